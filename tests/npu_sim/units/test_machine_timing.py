from isa.dtypes import Region
from isa.instructions.dma import Store
from npu_sim.actions import Action
from npu_sim.config_io import load_machine, override
from npu_sim.units.machine_timing import MachineTiming
from tests.npu_sim.pipelines import convolve_tile
from tests.support.programs import copy, load


def timing(name: str = "phone", *changes: str, preference: str = "fast_single_answer") -> MachineTiming:
    machine = override(load_machine(name), changes)
    return MachineTiming(machine, machine.operating_point(machine.preferences[preference]))


def test_picoseconds_round_up_to_whole_cycles():
    # 1230 MHz: 813.008 ps
    assert [timing().cycles_of(ps) for ps in (0, 1, 813, 814, 150_000)] == [0, 1, 1, 2, 185]


def test_a_small_transfer_is_bound_by_dram():
    # 32 bursts of 3.75 ns and one row change of 18.3 ns, stretched by refresh to 153.2 ns
    assert timing().transfer_work(load(0, 2048)).cycles == 189


def test_a_transfer_is_bound_by_a_slow_channel():
    assert timing("phone", "dma.bytes_per_cycle=4").transfer_work(load(0, 2048)).cycles == 512


def test_a_transfer_is_bound_by_window_over_latency():
    # 2048 bytes, 64 outstanding, 185 cycles of latency
    assert timing("phone", "dma.outstanding_bytes=64").transfer_work(load(0, 2048)).cycles == 32 * 185


def test_a_transfer_is_bound_by_the_banks_it_walks_through():
    # Runs of one word, 32 banks x 16 bytes apart: all in one bank.
    strided = load(0, 16, count1=1000, dram_stride1=16, sram_stride1=512)
    assert timing("phone", "dram.peak_bytes_per_second=inf").transfer_work(strided).cycles == 999


def test_memory_is_free_on_the_ideal_machine():
    work = timing("ideal").transfer_work(load(0, 1 << 20))
    assert (work.cycles, work.setup_cycles, work.tail_cycles, work.dram_ps) == (0, 0, 0, 0)


def counts(work) -> dict[Action, int]:
    return dict(work.activities)


def test_a_load_counts_words_bursts_and_pages():
    assert counts(timing().transfer_work(load(0, 4100))) == {
        Action.SRAM_WRITE_BYTE: 4112,
        Action.DMA_BYTE: 4100,
        Action.DRAM_READ_BYTE: 4160,
        Action.DRAM_ACTIVATE: 2,
    }


def test_a_store_reads_sram_and_writes_dram():
    store = Store(unit_mask=1, region=Region.OUTPUT, dram_offset=0, sram_address=0, run_bytes=64)
    assert counts(timing().transfer_work(store)) == {
        Action.SRAM_READ_BYTE: 64,
        Action.DMA_BYTE: 64,
        Action.DRAM_WRITE_BYTE: 64,
        Action.DRAM_ACTIVATE: 1,
    }


def test_a_weight_stationary_tile_counts_its_array_and_its_sums():
    # 64 pixels, 32 products, 32 channels: one fold; each weight shifts through 16 rows on average
    work = timing().matrix_work(convolve_tile(0, 2048, 4096))
    assert counts(work) == {
        Action.MAC_U8: 65536,
        Action.ARRAY_REGISTER_BYTE: 65536 * 5 + 1024 * 16,
        Action.ACCUMULATOR_UPDATE: 2048,
        Action.SRAM_READ_BYTE: 2048 + 1024,
        Action.SRAM_WRITE_BYTE: 2048,
        Action.OUTPUT_REQUANTISE: 2048,
    }


def test_narrow_arrays_read_the_input_once_per_fold_of_channels():
    work = timing("phone", "matrix.cols=8").matrix_work(convolve_tile(0, 2048, 4096))
    assert counts(work)[Action.SRAM_READ_BYTE] == 4 * 2048 + 1024


def test_output_stationary_arrays_read_the_weights_once_per_fold_of_pixels():
    work = timing("phone", "matrix.dataflow=output_stationary").matrix_work(convolve_tile(0, 2048, 4096))
    assert counts(work)[Action.SRAM_READ_BYTE] == 2048 + 2 * 1024
    assert Action.ACCUMULATOR_UPDATE not in counts(work)


def test_a_copy_between_far_bytes_takes_the_cycles_of_one_bank():
    scattered = copy(0, 1 << 19, 1, count1=1000, input_pitch1=512, output_pitch1=1)
    assert timing().vector_work(scattered).cycles == 16 + 999


def test_dram_time_does_not_depend_on_the_clock():
    slow, fast = (timing(preference=p).transfer_work(load(0, 2048)) for p in ("low_power", "sustained_speed"))
    assert slow.dram_ps == fast.dram_ps
    assert slow.cycles < fast.cycles
