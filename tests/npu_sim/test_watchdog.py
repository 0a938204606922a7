import pytest

from isa.instruction import UnitKind
from isa.instructions.control import Halt
from npu_sim.config_io import load_machine, override
from npu_sim.errors import DeadlockError
from npu_sim.npu import simulate
from tests.support.programs import copy, make_program, signal, wait


def run(instructions, changes=()):
    machine = override(load_machine("phone"), changes)
    program = make_program(instructions, target=machine.target)
    simulate(program, machine, "OD", {}, functional=False, verify=False)


def test_a_wait_that_nobody_signals_is_reported():
    message = "vector0 waits for semaphore 3 to reach 2, it is at 0, nobody signals it"
    with pytest.raises(DeadlockError, match=message):
        run([wait(3, 2, UnitKind.VECTOR), Halt()])


def test_a_wait_for_too_many_signals_names_the_signaller():
    message = r"vector0 waits for semaphore 0 to reach 2, it is at 1, signalled by dma1 \(1 in the program\)"
    with pytest.raises(DeadlockError, match=message):
        run([signal(0, UnitKind.DMA, 1), wait(0, 2, UnitKind.VECTOR), Halt()])


def test_two_units_that_wait_for_each_other_are_both_reported():
    crossed = [
        wait(0, 1, UnitKind.VECTOR),
        signal(1, UnitKind.VECTOR),
        wait(1, 1, UnitKind.DMA),
        signal(0, UnitKind.DMA),
        Halt(),
    ]
    with pytest.raises(DeadlockError, match=r"vector0 waits .*signalled by dma0.*dma0 waits .*by vector0"):
        run(crossed)


def test_a_dispatch_that_a_full_queue_blocks_is_reported():
    stuck = [wait(0, 1, UnitKind.VECTOR), *[copy(0, 64)] * 3, signal(0, UnitKind.DMA), Halt()]
    message = r"dispatch waits at instruction 3 of 6: the queue of vector0 is full"
    with pytest.raises(DeadlockError, match=message):
        run(stuck, ["frontend.queue_depth=2"])


def test_a_signal_before_its_wait_in_program_order_never_deadlocks():
    run([signal(0, UnitKind.DMA), wait(0, 1, UnitKind.VECTOR), Halt()], ["frontend.queue_depth=1"])
