import json
import re
import tomllib
from importlib import resources

import pytest

from npu_sim.config import MachineConfig
from npu_sim.config_io import ConfigError, load_machine, machine_text, override, preset_names, to_toml

SOURCE = re.compile(r"HW \d|assumed|as phone|GAP9|_pj \+|only one point|units")


@pytest.fixture
def phone() -> MachineConfig:
    return load_machine("phone")


CITATION = re.compile(r"HW (\d(?:\.\d)?(?:, \d\.\d)*)")
ENTRY = re.compile(r"^### HW (\d(?:\.\d)?):", re.MULTILINE)


def preset_file(name: str) -> str:
    return (resources.files("npu_sim") / "presets" / name).read_text(encoding="utf-8")


def preset_text(name: str) -> str:
    return preset_file(f"{name}.toml")


def cited_sections() -> set[str]:
    found = [citation for name in preset_names() for citation in CITATION.findall(preset_text(name))]
    return {section for citation in found for section in citation.split(", ")}


def test_every_cited_source_has_an_entry_and_every_entry_is_cited():
    entries = ENTRY.findall(preset_file("SOURCES.md"))
    assert len(set(entries)) == len(entries)
    assert set(entries) == cited_sections()


@pytest.mark.parametrize("name", ["phone", "tiny"])
def test_a_preset_says_where_its_citations_lead(name):
    assert "npu_sim/presets/SOURCES.md" in preset_text(name)


@pytest.mark.parametrize("name", preset_names())
def test_the_text_of_a_preset_is_its_file(name):
    assert machine_text(name) == preset_text(name)


def test_the_text_of_a_file_is_the_file(tmp_path):
    path = write(tmp_path, "# mine\n" + preset_text("tiny"))
    assert machine_text(path) == "# mine\n" + preset_text("tiny")


@pytest.mark.parametrize("name", preset_names())
def test_every_number_of_a_preset_names_its_source(name):
    unsourced = [
        line
        for line in preset_text(name).splitlines()
        if re.match(r"\w+ = ", line) and not line.startswith("name") and not SOURCE.search(line)
    ]
    assert unsourced == []


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_survives_writing_and_reading(name, tmp_path):
    path = tmp_path / "machine.toml"
    path.write_text(to_toml(load_machine(name)), encoding="utf-8")
    assert load_machine(str(path)) == load_machine(name)


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_named_as_its_file(name):
    assert load_machine(name).name == name


def test_strings_with_quotes_survive_toml(phone):
    odd = override(phone, ['name="a\\"b\\\\cé"'])
    assert tomllib.loads(to_toml(odd))["name"] == 'a"b\\cé'


def test_an_unknown_preset_lists_the_presets_and_the_nearest():
    with pytest.raises(ConfigError, match=r"'fone' \(nearest: phone\).*ideal, phone, tiny"):
        load_machine("fone")


def test_a_missing_file_is_named():
    with pytest.raises(ConfigError, match=r"nowhere/machine\.toml: cannot be read: No such file"):
        load_machine("nowhere/machine.toml")


def write(tmp_path, text: str) -> str:
    path = tmp_path / "m.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_an_unknown_key_names_file_path_value_and_the_nearest_key(tmp_path):
    path = write(tmp_path, preset_text("phone").replace("rows = 32", "row = 32"))
    message = (
        r"m\.toml: unknown key matrix\.row \(value 32\) \(nearest: rows\); permitted in matrix: units, rows"
    )
    with pytest.raises(ConfigError, match=message):
        load_machine(path)


def test_an_unknown_table_is_an_unknown_key(tmp_path):
    with pytest.raises(ConfigError, match=r"unknown key matrx .*nearest: matrix.*the top level"):
        load_machine(write(tmp_path, preset_text("phone").replace("[matrix]", "[matrx]")))


def test_a_missing_key_is_named(tmp_path):
    path = write(tmp_path, preset_text("phone").replace("burst_bytes = 64", ""))
    with pytest.raises(ConfigError, match=r"missing key dram\.burst_bytes; needed in dram: peak_bytes_per"):
        load_machine(path)


def test_a_missing_key_of_the_top_level_names_the_others(tmp_path):
    path = write(tmp_path, "[matrix]\nunits = 1\n")
    with pytest.raises(ConfigError, match=r"missing key name; needed in the top level: name, matrix, vector"):
        load_machine(path)


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", "\x7f"])
def test_a_name_that_cannot_be_printed_is_refused(tmp_path, name):
    path = tmp_path / "m.toml"
    path.write_text(preset_text("tiny").replace('name = "tiny"', f"name = {json.dumps(name)}"))
    with pytest.raises(ConfigError, match=r"m\.toml: name = .* must consist of printable characters"):
        load_machine(str(path))


def test_an_operating_point_that_cannot_be_printed_is_refused(tmp_path):
    text = preset_text("tiny").replace("[operating_points.LOW]", '[operating_points."LO\\u0007W"]')
    with pytest.raises(ConfigError, match=r"operating_points = 'LO\\x07W' must consist of printable"):
        load_machine(write(tmp_path, text))


def test_a_wrong_type_names_path_value_and_what_is_allowed(tmp_path):
    path = write(tmp_path, preset_text("phone").replace("rows = 32", 'rows = "many"'))
    with pytest.raises(ConfigError, match=r"matrix\.rows = 'many': allowed is an integer from 1 to 1024"):
        load_machine(path)


def test_a_key_of_an_operating_point_is_checked(tmp_path):
    path = write(tmp_path, preset_text("phone").replace("voltage_v = 0.492", "volts = 0.492"))
    with pytest.raises(ConfigError, match=r"unknown key operating_points\.UUD\.volts"):
        load_machine(path)


def test_a_value_in_place_of_a_table_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"matrix = 3: a table is expected"):
        load_machine(write(tmp_path, 'name = "x"\nmatrix = 3\n'))


@pytest.mark.parametrize("content", [b"rows = = 3", b"\xff\xfe", b"a = " + b"[" * 5000])
def test_a_file_that_is_no_toml_gives_one_message(tmp_path, content):
    path = tmp_path / "m.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"m\.toml: not "):
        load_machine(str(path))


def test_overrides_parse_numbers_words_and_later_ones_win(phone):
    changed = override(
        phone, ["matrix.rows=8", "matrix.rows=16", "matrix.dataflow=output_stationary", "name='mine'"]
    )
    assert (changed.matrix.rows, changed.matrix.dataflow.value, changed.name) == (
        16,
        "output_stationary",
        "mine",
    )


def test_overrides_are_checked_together(phone):
    assert override(phone, ["sram.ports=64", "sram.banks=64"]).sram.ports == 64


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("matrix.rows", "expected PATH=VALUE"),
        ("=3", "expected PATH=VALUE"),
        ("matrix.rows=", "the value is empty"),
        ("matrix.row=3", r"unknown key matrix\.row \(nearest: rows\); permitted in matrix: units"),
        ("matrix=3", r"matrix is a table; name one of its keys: units"),
        ("matrix.rows.x=3", r"matrix\.rows is a value, it has no key 'x'"),
        ("matrix.rows=0", "matrix.rows = 0: allowed is an integer from 1 to 1024"),
        ("matrix.rows=1000000000", "allowed is an integer from 1 to 1024"),
        ("matrix.rows=8.5", "matrix.rows = 8.5: allowed is an integer"),
        ("matrix.rows=[8]", "a number, a word or a string is expected"),
        ("sram.kib=1000000000", "sram.kib = 1000000000: allowed is an integer from 1 to 262144"),
        ("sram.banks=3", "sram.banks = 3 must be a power of two"),
        ("sram.ports=64", "sram.ports = 64 is more than banks = 32"),
        ("matrix.dataflow=rows", "allowed is one of weight_stationary, output_stationary"),
        ("matrix.stationary_load=slow", "allowed is one of serial, hidden"),
        ("preferences.low_power=XX", r"preferences.low_power = 'XX' is no operating point; there are UUD"),
        ("operating_points.UD.frequency_hz=5", r"operating_points\.UD\.frequency_hz = 5: allowed"),
        ("energy.mac_u8_pj=nan", "energy.mac_u8_pj = nan: allowed is a number from 0"),
        ("dram.page_bytes=100", "page_bytes = 100 must be a multiple of burst_bytes = 64"),
        ("dram.refresh_ps=3912000", "refresh_ps = 3912000 must be less than"),
        ("frontend.fetch_block_bytes=100", "must be a multiple of 16"),
        ("frontend.prefetch_blocks=1", "must hold the longest instruction"),
    ],
)
def test_a_wrong_override_says_what_and_what_is_allowed(phone, assignment, message):
    with pytest.raises(ConfigError, match=message):
        override(phone, [assignment])
