"""`read eeprom`: a module for a person, and for a program."""

import json
from pathlib import Path

from emulator.module_kinds import KINDS
from emulator.modules.image import image
from emulator.optics import ModuleState
from tests.fabrichealth.terminal import Terminal


def written(folder: Path, kind: str, **changed: object) -> Path:
    """Write the image of an emulated module as a capture."""
    one, far = (ModuleState("S1", KINDS[kind].lanes, kind=kind) for _ in range(2))
    for _ in range(50):
        one.shine(30.0)
        far.shine(30.0)
    one.receive(far)
    for name, value in changed.items():
        setattr(one, name, value)
    pages = {name: page.hex() for name, page in image(one).items()}
    file = folder / "Ethernet0.json"
    file.write_text(json.dumps({"lower": pages.pop("lower"), "pages": pages}))
    return file


def test_a_report_tells_what_a_module_is_and_where_each_value_lies(
    terminal: Terminal, tmp_path: Path
) -> None:
    file = written(tmp_path, "dr4", rx_dbm=[-1.0, -2.0, -9.0, -3.0])
    plain = terminal("read", "eeprom", file)
    assert plain.status == 0
    for words in ("EMU-400-DR4", "400GBASE-DR4", "BEYOND low alarm", "media snr", "not coherent"):
        assert words in plain.out
    assert "11h:190-191" not in plain.out
    explained = terminal("read", "eeprom", file, "--explain")
    assert "11h:190-191" in explained.out  # received power of lane 3
    assert "OIF-CMIS-05.2 8.9 Page 11h" in explained.out


def test_as_json_readings_stay_readings_and_explanations_are_objects(
    terminal: Terminal, tmp_path: Path
) -> None:
    file = written(tmp_path, "aec")
    plain = terminal("read", "eeprom", file, "--json")
    assert all("field" not in one or "refused" in one for one in plain.objects)
    explained = terminal("read", "eeprom", file, "--json", "--explain")
    (vendor,) = [one for one in explained.objects if one.get("field") == "vendor"]
    assert (vendor["at"], vendor["value"]) == ("00h:129-144", "EMULATED")
