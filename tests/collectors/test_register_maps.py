"""Register maps: those that are shipped, and what is said of one that is wrong."""

from pathlib import Path

import pytest

from collectors.maps import register_maps
from collectors.maps.quantities import MEASURES, step
from collectors.maps.register_schema import METRICS, json_schema
from fabrichealth.errors import SiteError
from fabrichealth.units import Unit
from fabrichealth.yamlfile import load
from tests.house.checkout import ROOT

TEMPERATURE = "fabric_coolant_temperature_celsius"
RUNS = "fabric_pump_running"
ENTRY = f"  - {{name: t, address: 5, to: {TEMPERATURE}}}\n"


def written(folder: Path, registers: str, head: str = "") -> Path:
    file = folder / "map.yaml"
    file.write_text(f"about: a map\n{head}registers:\n{registers}")
    return file


@pytest.mark.parametrize("name", register_maps.names())
def test_every_shipped_map_is_well(name: str) -> None:
    known = register_maps.read(register_maps.find(name))
    assert known.entries
    assert known.about


@pytest.mark.parametrize("name", register_maps.names())
def test_the_schema_for_editors_knows_what_maps_say(name: str) -> None:
    schema = json_schema()
    entry = schema["$defs"]["Entry"]
    written_ = load(register_maps.find(name)).value
    assert written_.keys() <= schema["properties"].keys()
    assert schema["additionalProperties"] is entry["additionalProperties"] is False
    for one in written_["registers"]:
        assert set(entry["required"]) <= one.keys() <= entry["properties"].keys()
        assert one["to"] in entry["properties"]["to"]["enum"]
        assert one.get("unit", "") in entry["properties"]["unit"]["enum"]


def test_what_is_shipped_is_a_cdu_of_each_kind_and_a_meter() -> None:
    assert {"cdu_generic", "liebert_icom", "meter_three_phase"} <= set(register_maps.names())


@pytest.mark.parametrize(
    ("registers", "line", "says"),
    [
        (f"  - {{name: t, address: -1, to: {TEMPERATURE}}}\n", 3, "greater than or equal to 0"),
        (f"  - {{name: t, address: 70000, to: {TEMPERATURE}}}\n", 3, "from 0 to 65535"),
        (f"  - {{name: t, address: 65535, type: int32, to: {TEMPERATURE}}}\n", 3, "from 0"),
        ("  - {name: t, address: 1, to: fabric_coolant_heat}\n", 3, "no metric of the catalogue"),
        ("  - {name: t, address: 1, to: fabric_port_up}\n", 3, "none of cooling, power"),
        (f"  - {{name: t, address: 1, unit: bar, to: {TEMPERATURE}}}\n", 3, "kelvin"),
        (f"  - {{name: t, address: 1, type: int12, to: {TEMPERATURE}}}\n", 3, "int16"),
        (f"  - {{name: t, address: 1, typ: int16, to: {TEMPERATURE}}}\n", 3, "unknown key"),
        (f"  - {{name: t, address: 1, function: 1, type: int16, to: {TEMPERATURE}}}\n", 3, "coils"),
        (f"  - {{name: t, address: 1, bit: 16, to: {TEMPERATURE}}}\n", 3, "no bit 16"),
        (f"  - {{name: t, address: 1, scale: 0, to: {TEMPERATURE}}}\n", 3, "no size of a step"),
        (f"  - {{name: t, address: 1, valid: [9, 1], to: {TEMPERATURE}}}\n", 3, "least stands"),
        (f"  - {{name: t, address: 1, to: {TEMPERATURE}, labels: {{pump: 1}}}}\n", 3, "no label"),
        ("  - {name: t, address: 1, to: fabric_pump_running}\n", 3, "wants pump"),
        ("  - {name: t, address: 1, side: facility, to: fabric_rack_power_watts}\n", 3, "a loop"),
        ("  - {name: t, address: 1, to: fabric_pump_running, labels: {pump: 1}, is: {0: 2}}\n", 3,
         "neither 0 nor 1"),
        (f"  - {{name: t, address: 1, most: 4, to: {TEMPERATURE}}}\n", 3, "does not wrap"),
        (f"  - {{name: t, address: true, to: {TEMPERATURE}}}\n", 3, "address: true is no number"),
        (f"  - {{name: t, address: 65534, type: float64, to: {TEMPERATURE}}}\n", 3,
         "no address of float64; from 0 to 65532"),
        (ENTRY.replace("address: 5", "address: 4, type: float32, labels: {point: supply}")
         + ENTRY.replace("name: t", "name: u"), 4, "uint16 at 5 (holding register) overlaps t"),
        (ENTRY + ENTRY, 4, "there already"),
        (ENTRY + ENTRY.replace("name: t", "name: u"), 4, "the same series as t"),
        ("", 2, "must be a list"),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_with_file_and_line(
    tmp_path: Path, registers: str, line: int, says: str
) -> None:
    file = written(tmp_path, registers)
    with pytest.raises(SiteError, match=r"\A.+\Z") as wrong:
        register_maps.read(file)
    assert str(wrong.value).startswith(f"{file}:{line}: ")
    assert says in str(wrong.value)


def test_a_map_without_registers_says_what_it_wants(tmp_path: Path) -> None:
    file = tmp_path / "map.yaml"
    file.write_text("about: a map\nregisters: []\n")
    with pytest.raises(SiteError, match="registers: must have 1 or more; it has 0"):
        register_maps.read(file)


def test_a_map_that_holds_itself_is_told_as_such(tmp_path: Path) -> None:
    file = written(tmp_path, "  - &it {name: t, address: 1, to: x, labels: *it}\n")
    with pytest.raises(SiteError, match="an alias of itself"):
        register_maps.read(file)


def test_bits_of_a_word_and_the_word_itself_may_be_read_together(tmp_path: Path) -> None:
    bits = "".join(
        f"  - {{name: p{n}, address: 7, bit: {n}, labels: {{pump: {n}}}, to: {RUNS}}}\n"
        for n in (1, 2)
    )
    word = ENTRY.replace("address: 5", "address: 6, type: uint32")
    assert len(register_maps.read(written(tmp_path, word + bits)).entries) == 3


def test_the_map_of_the_documentation_is_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "registers-and-profiles.md").read_text()
    text = page.partition("## A register map")[2].partition("```yaml\n")[2].partition("```")[0]
    file = tmp_path / "documented.yaml"
    file.write_text(text)
    assert [one.register.address for one in register_maps.read(file).entries] == [
        100, 109, 119, 120, 129,
    ]  # fmt: skip


def test_a_map_that_was_mended_is_read_again(tmp_path: Path) -> None:
    file = written(tmp_path, "  - {name: t}\n")
    with pytest.raises(SiteError):
        register_maps.read(file)
    assert len(register_maps.read(written(tmp_path, ENTRY)).entries) == 1


def test_addresses_as_printed_are_counted_from_the_base(tmp_path: Path) -> None:
    entry = ENTRY.replace("address: 5", "address: 30491")
    (one,) = register_maps.read(written(tmp_path, entry, "base: 30001\nfunction: 4\n")).entries
    assert (one.register.function, one.register.address) == (4, 490)
    assert one.shown == "30491 (input register)"


def test_a_name_that_is_not_shipped_is_told_with_those_that_are() -> None:
    with pytest.raises(SiteError, match="cdu_generic"):
        register_maps.find("nobody")


@pytest.mark.parametrize(
    ("unit", "raw", "value"),
    [
        ("fahrenheit", 212.0, 100.0),
        ("kelvin", 273.15, 0.0),
        ("psi", 100.0, 689.4757293168),
        ("cubic_meters_per_hour", 6.0, 100.0),
        ("gallons_per_minute", 10.0, 37.85411784),
        ("kilowatt_hours", 1.0, 3.6e6),
        ("percent", 61.0, 0.61),
    ],
)
def test_units_of_the_field_become_the_catalogues(unit: str, raw: float, value: float) -> None:
    size = step(MEASURES[unit])
    assert raw * size.times / size.over + size.offset == pytest.approx(value, rel=1e-12, abs=1e-12)


def test_every_unit_of_cooling_and_power_can_be_said() -> None:
    wanted = {metric.unit for metric in METRICS}
    assert wanted - {one.unit for one in MEASURES.values()} == set()
    assert Unit.CELSIUS in wanted
