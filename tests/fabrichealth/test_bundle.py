"""`replay FOLDER`: what tools printed, at one or several moments, told as one report."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabrichealth.cli._bundle import APART, moment_of, visits
from fabrichealth.errors import UsageError
from tests.fabrichealth.terminal import Terminal

TOPOLOGY = """\
devices: [{name: h1, role: host}, {name: leaf-01, role: switch}]
links: [{a: h1/eth0, b: leaf-01/1, technology: roce, speed_gbps: 100, lanes: 4}]
"""

BEGAN = 1_767_225_600.0


def statistics(symbol_errors: int) -> str:
    """Return what `ethtool -S` prints of a port with so many symbol errors."""
    return (
        "NIC statistics:\n"
        "     rx_packets: 1000\n     rx_bytes: 640000\n     tx_packets: 1000\n"
        "     tx_bytes: 640000\n     rx_packets_phy: 2000\n     rx_bytes_phy: 1280000\n"
        f"     rx_symbol_err_phy: {symbol_errors}\n     rx_crc_errors_phy: 0\n"
        "     link_down_events_phy: 0\n     rx_prio3_pause: 0\n"
    )


def settings(speed: str = "100000Mb/s", link: str = "yes") -> str:
    """Return what `ethtool eth0` prints."""
    return f"Settings for eth0:\n\tSpeed: {speed}\n\tDuplex: Full\n\tLink detected: {link}\n"


def bundle(folder: Path, errors: list[int], **more: str) -> Path:
    """Write a host's outputs at moments ten minutes apart."""
    for number, many in enumerate(errors):
        place = folder / str(int(BEGAN + 600 * number)) / "h1"
        place.mkdir(parents=True)
        (place / "eth0.txt").write_text(statistics(many))
        (place / "eth0-settings.txt").write_text(settings(**more))
    (folder.parent / "topology.yaml").write_text(TOPOLOGY)
    return folder


def test_errors_between_two_moments_are_one_incident_and_one_report(
    terminal: Terminal, tmp_path: Path
) -> None:
    folder = bundle(tmp_path / "b", [1000, 90_000, 180_000, 270_000])
    said = terminal("replay", folder, "--topology", tmp_path / "topology.yaml")
    assert said.status == 0, said.err
    assert f"{folder}: 4 moments, 2026-01-01 00:00:00 .. 2026-01-01 00:30:00" in said.out
    assert "devices    1: h1" in said.out
    assert "link.subhealthy" in said.out
    assert "culprit    link h1/eth0--leaf-01/1" in said.out


def test_folders_whose_names_are_no_text_are_told_all_the_same(
    terminal: Terminal, tmp_path: Path
) -> None:
    """Names on disk are bytes; one that is no UTF-8 costs neither itself nor its neighbours."""
    folder = tmp_path / os.fsdecode(b"b\xff")
    for device in (b"h1", b"h\xfe2"):
        place = folder / os.fsdecode(device)
        place.mkdir(parents=True)
        (place / "eth0.txt").write_text(statistics(1000))
        (place / os.fsdecode(b"odd\xfd.txt")).write_text("zzz\n")
    said = terminal("replay", folder, "--json")
    assert (said.status, said.err) == (0, "")
    (told,) = said.objects
    assert told["bundle"].endswith("/b\ufffd")
    assert told["devices"] == ["h1", "h_2"]
    assert told["warnings"] == []
    assert told["readings"] > 10
    assert sorted(told["unknown"]) == ["h1/odd\ufffd.txt", "h\ufffd2/odd\ufffd.txt"]
    assert terminal("replay", folder).status == 0


def test_what_an_error_counter_says_at_one_moment_is_nothing(
    terminal: Terminal, tmp_path: Path
) -> None:
    folder = bundle(tmp_path / "b", [270_000])
    said = terminal("replay", folder, "--topology", tmp_path / "topology.yaml")
    assert "one moment: levels are judged as if they lasted" in said.out
    assert "nothing wrong was found in what was read" in said.out


def test_what_a_log_says_is_counted_from_its_beginning(terminal: Terminal, tmp_path: Path) -> None:
    place = tmp_path / "h1"
    place.mkdir()
    (place / "dmesg.txt").write_text(
        "2026-01-01T00:00:05,000000+00:00 NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off\n"
        "2026-01-01T00:00:09,000000+00:00 NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off\n"
    )
    said = terminal("replay", tmp_path)
    assert said.status == 0, said.err
    assert "log        2026-01-01 00:00:09  h1-0000:9b:00.0 xid:79 x2, fatal: NVRM" in said.out
    assert "accelerator.errors  page" in said.out
    assert "culprit    device h1-0000:9b:00.0" in said.out


def test_what_no_source_knows_is_named_and_costs_nothing_else(
    terminal: Terminal, tmp_path: Path
) -> None:
    folder = bundle(tmp_path / "b", [1000, 1000])
    (folder / str(int(BEGAN)) / "h1" / "notes.txt").write_text("ask Bob about the cage\n")
    *incidents, summary = terminal(
        "replay", folder, "--topology", tmp_path / "topology.yaml", "--json"
    ).objects
    assert incidents == []
    assert summary["unknown"] == [f"{int(BEGAN)}/h1/notes.txt"]
    assert summary["moments"] == [BEGAN, BEGAN + 600]
    assert summary["files"] == {"host": 4}
    assert summary["readings"] > 0


@pytest.mark.parametrize("words", [("--interval", "60"), ("two", "folders")])
def test_what_cannot_be_asked_is_one_line(
    terminal: Terminal, tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = bundle(tmp_path / "b", [0])
    more = (folder, *words[:1]) if words[0] == "two" else (folder, *words)
    (tmp_path / "two").mkdir()
    said = terminal("replay", *[tmp_path / one if one == "two" else one for one in more])
    assert said.status == 2


def test_an_empty_folder_and_one_of_strangers_are_verdicts(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "b").mkdir()
    assert "holds no file" in terminal("replay", tmp_path / "b").err
    (tmp_path / "b" / "poem.txt").write_text("roses are red\n")
    said = terminal("replay", tmp_path / "b")
    assert (said.status, "no source knows any file" in said.err) == (1, True)


class TestMoments:
    @pytest.mark.parametrize(
        ("name", "at"),
        [
            ("0001", 1.0),
            ("1767225600", BEGAN),
            ("2026-01-01", BEGAN),
            ("20260101-0010", BEGAN + 600),
            ("2026-01-01T00:10:30Z", BEGAN + 630),
            ("host-001", None),
            ("2026-13-45", None),
            ("cdu-1", None),
        ],
    )
    def test_a_folders_name_says_when(self, name: str, at: float | None) -> None:
        assert moment_of(name) == at

    @given(st.text(max_size=30))
    def test_any_name_is_a_moment_or_none(self, name: str) -> None:
        found = moment_of(name)
        assert found is None or isinstance(found, float)

    def test_devices_may_hold_moments_and_moments_devices(self, tmp_path: Path) -> None:
        for path in ("m/0001/h1/a", "m/0002/h1/a", "d/h1/0001/a", "d/h1/0002/a"):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).touch()
        for top in "md":
            found = visits(tmp_path / top)
            assert [(one.device, one.order) for one in found] == [("h1", 1.0), ("h1", 2.0)]

    def test_flat_files_whose_dates_lie_apart_are_two_moments(self, tmp_path: Path) -> None:
        for name, at in (("a", BEGAN), ("b", BEGAN + 5), ("a2", BEGAN + 5 + 2 * APART)):
            (tmp_path / name).touch()
            os.utime(tmp_path / name, (at, at))
        (tmp_path / "a.stderr").touch()
        names = [[file.name for file in one.files] for one in visits(tmp_path)]
        assert names == [["a", "b"], ["a2"]]
        (tmp_path / "empty").mkdir()
        with pytest.raises(UsageError, match="holds no file"):
            visits(tmp_path / "empty")
