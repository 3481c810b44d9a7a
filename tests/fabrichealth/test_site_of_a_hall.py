"""A site file with cooling units and PDUs: what is wrong is told with its line."""

from pathlib import Path

import pytest

from tests.fabrichealth.terminal import Terminal

MAP = "about: m\nregisters:\n  - {name: f, address: 0, to: fabric_coolant_heat_watts}\n"


def site(folder: Path, *targets: str, sources: str = "") -> Path:
    file = folder / "site.yaml"
    rows = "".join(f"  - {{{target}}}\n" for target in targets)
    file.write_text(f"state: {folder}\n{sources}targets:\n{rows}")
    return file


def test_a_hall_is_well(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "cdu.yaml").write_text(MAP)
    file = site(
        tmp_path,
        'name: cdu-1, source: modbus, address: "modbus://10.0.0.1/3", mapping: cdu_generic',
        'name: cdu-2, source: modbus, address: "modbus://10.0.0.2", map: cdu.yaml, loop: tcs-2',
        'name: pdu-1, source: snmp, address: "snmp://10.0.0.3", mapping: apc_rpdu2, rack: r01',
        sources="sources:\n  modbus: {period: 5s, answer: 1s}\n",
    )
    said = terminal("check", "-c", file)
    assert (said.status, said.err) == (0, "")


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ('address: "modbus://10.0.0.1"', "no register map; give map: FILE"),
        ('address: "modbus://10.0.0.1", mapping: nobody', "no register map named nobody"),
        ('address: "modbus://10.0.0.1", map: gone.yaml', "cannot be read"),
        ('address: "modbus://10.0.0.1/x", mapping: cdu_generic', "is no unit"),
        ('address: "http://10.0.0.1", mapping: cdu_generic', "modbus://HOST"),
        ('address: "modbus://10.0.0.1", mapping: cdu_generic, user: me', "makes no use of it"),
    ],
)
def test_a_wrong_target_is_told_with_its_line(
    terminal: Terminal, tmp_path: Path, target: str, says: str
) -> None:
    file = site(tmp_path, f"name: cdu-1, source: modbus, {target}")
    said = terminal("check", "-c", file)
    assert said.status == 1
    assert f"{file}:3: targets.0" in said.err
    assert says in said.err


def test_a_wrong_setting_is_told_with_its_line(terminal: Terminal, tmp_path: Path) -> None:
    target = 'name: cdu-1, source: modbus, address: "modbus://10.0.0.1", mapping: cdu_generic'
    file = site(tmp_path, target, sources="sources:\n  modbus:\n    answer: 5\n")
    said = terminal("check", "-c", file)
    assert f"{file}:4: sources.modbus.answer: 5 is not a duration" in said.err


def test_a_profile_that_nobody_knows_is_told(terminal: Terminal, tmp_path: Path) -> None:
    file = site(tmp_path, 'name: p, source: snmp, address: "snmp://10.0.0.1", mapping: x')
    assert f"{file}:3: targets.0: no profile named x" in terminal("check", "-c", file).err
