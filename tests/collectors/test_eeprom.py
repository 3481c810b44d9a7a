"""The eeprom source: modules from images in any form, and gently from the kernel."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.host.modules import TAKEN, HostModules
from collectors.host.ports import HostPort
from collectors.intake import Bounds, checked
from collectors.maps.columns import Columns
from collectors.optics import images
from collectors.optics.columns import Cage, ModuleColumns
from collectors.optics.reading import ModuleReader
from collectors.protocols.module import HALF, Memory
from collectors.source import Target
from collectors.sources.eeprom import Eeprom, EepromSettings
from collectors.transports.one_reader import OneReader
from emulator.module_kinds import KINDS
from emulator.modules.image import image
from emulator.optics import ModuleState
from fabrichealth.catalogue.optics import LOS, OPTICS_INFO, RX_POWER, SNR, TEMPERATURE, THRESHOLD
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from tests.fixtures import readings

AT = 1_767_225_600.0
CARD = HostPort("host-001", "eth0", "eth0", "", interface="eth0", driver="mlx5_core")
HERE = ("host-001", "eth0")


def pages_of(kind: str, **changed: object) -> dict[str, bytes]:
    """Return the pages of an emulated module that works and hears another one."""
    one, far = (ModuleState("S1", KINDS[kind].lanes, kind=kind) for _ in range(2))
    for _ in range(50):
        one.shine(30.0)
        far.shine(30.0)
    one.receive(far)
    for name, value in changed.items():
        setattr(one, name, value)
    return image(one)


def memory_of(kind: str, **changed: object) -> Memory:
    pages = pages_of(kind, **changed)
    if "lower" in pages:
        return Memory(pages.pop("lower"), pages)
    return Memory(pages["a0"][:HALF], {"00": pages["a0"][HALF:], "a2": pages["a2"][:HALF]})


def as_json(pages: Mapping[str, bytes]) -> str:
    told = {name: page.hex() for name, page in pages.items()}
    return json.dumps({"lower": told.pop("lower"), "pages": told} if "lower" in told else told)


class Seen:
    """A source and what it says of captures."""

    def __init__(self, **options: str) -> None:
        self.table = SeriesTable()
        self.source = Eeprom(
            EepromSettings(), Target("leaf-01", "eeprom", "", "", options), self.table
        )

    def poll(self, *files: Path) -> Poll:
        raw = self.source.captured(list(files), AT)
        return checked(raw, Bounds(self.table), self.table, AT, 300.0)


def dump(pages: Mapping[str, bytes]) -> str:
    """Return what a switch's tool prints: a heading a page, offsets, bytes, text beside them."""
    lines = ["EEPROM hexdump for port Ethernet0"]
    for name, half in pages.items():
        bank, _, page = name.rpartition(":")
        heading = "Lower page 0h" if name == "lower" else f"Upper page {int(page, 16):x}h"
        lines.append(f"        Bank {bank} page {page}h" if bank else f"        {heading}")
        start = 0 if name == "lower" else HALF
        for at in range(0, HALF, 16):
            row = half[at : at + 16]
            text = "".join(chr(c) if 32 <= c < 127 else "." for c in row)
            lines.append(
                f"        {start + at:08x} {row[:8].hex(' ')}  {row[8:].hex(' ')} |{text}|"
            )
    return "\n".join(lines)


def linear(kind: str) -> bytes:
    pages = pages_of(kind)
    if "a0" in pages:
        return pages["a0"] + pages["a2"]
    return b"".join(pages.get(name, bytes(HALF)) for name in ("lower", "00", "01", "02", "03"))


def ethtool(whole: bytes) -> str:
    rows = (f"0x{at:04x}:\t\t{whole[at : at + 16].hex(' ')} " for at in range(0, len(whole), 16))
    return "\n".join(["Offset\t\tValues", "------\t\t------", *rows])


def xxd(whole: bytes) -> str:
    lines = []
    for at in range(0, len(whole), 16):
        row = whole[at : at + 16]
        text = "".join(chr(c) if 32 <= c < 127 else "." for c in row)
        lines.append(f"{at:08x}: {row.hex(' ', 2)}  {text}")
    return "\n".join(lines)


@pytest.mark.parametrize("kind", ["dr4", "sfp", "cwdm4", "cpo", "els"])
def test_pages_in_json_are_the_memory(kind: str) -> None:
    found = images.parsed(as_json(pages_of(kind)).encode())
    wanted = memory_of(kind)
    assert (found.lower, dict(found.pages)) == (wanted.lower, dict(wanted.pages))


@pytest.mark.parametrize("kind", ["dr4", "cpo", "aec"])
def test_a_dump_with_headings_is_the_memory(kind: str) -> None:
    found = images.parsed(dump(pages_of(kind)).encode())
    wanted = memory_of(kind)
    assert (found.lower, dict(found.pages)) == (wanted.lower, dict(wanted.pages))


@pytest.mark.parametrize("kind", ["sfp", "cwdm4"])
@pytest.mark.parametrize("write", [ethtool, xxd, lambda whole: whole.hex(), lambda whole: whole])
def test_a_linear_image_is_the_memory_in_any_form(
    kind: str, write: Callable[[bytes], str | bytes]
) -> None:
    content = write(linear(kind))
    found = images.parsed(content if isinstance(content, bytes) else content.encode())
    wanted = memory_of(kind)
    assert found.lower == wanted.lower
    for page, half in wanted.pages.items():
        assert found.pages[page] == half


def test_lines_that_a_dump_does_not_repeat_are_there() -> None:
    rows = ["00000000  11 08 " + "00 " * 14, "00000010  " + "00 " * 16, "*", "00000100"]
    found = images.parsed("\n".join([*rows[:3], "000000f0  " + "07 " * 16]).encode())
    assert found.pages["00"] == bytes(112) + b"\x07" * 16


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{}", "no image"),
        (b'{"lower": "zz"}', "`lower` is not hexadecimal"),
        (b'{"lower": "00", "pages": 3}', "`pages` is no map"),
        (b'{"lower": "00", "pages": {"cage": "00"}}', "'cage' is no page"),
        (b"hello there", "neither an image"),
        (b"0000: 12 3", "half a byte"),
        (b"0000: " + b"03 " * 16 + b"\n0020: " + b"00 " * 16, "a line is missing"),
        (b"\x00\x01", "2 bytes"),
        (b"\xff" * 512, "ffh"),
    ],
)
def test_what_is_no_image_says_why(content: bytes, says: str) -> None:
    with pytest.raises(MalformedReply, match=says):
        images.parsed(content)


@given(st.binary(max_size=700) | st.text(max_size=300).map(str.encode))
def test_any_file_is_a_memory_or_says_why_not(content: bytes) -> None:
    table = SeriesTable()
    try:
        memory = images.parsed(content)
    except MalformedReply:
        return
    ModuleColumns(table).take([Cage("a", "1", memory)], Columns(table))


def test_an_image_is_read_in_the_catalogues_units(tmp_path: Path) -> None:
    file = tmp_path / "Ethernet0.json"
    file.write_text(as_json(pages_of("dr4", temperature=45.0, rx_dbm=[-1.0, -2.0, -40.0, -3.0])))
    seen = Seen()
    poll = seen.poll(file)
    assert poll.refused == []
    assert readings(poll, seen.table, TEMPERATURE) == {("leaf-01", "1"): 45.0}
    light = readings(poll, seen.table, RX_POWER)
    assert [light["leaf-01", "1", lane] for lane in "1234"] == pytest.approx(
        [-1, -2, -40, -3], abs=0.01
    )
    assert ("leaf-01", "1", "5") not in light
    assert readings(poll, seen.table, LOS)["leaf-01", "1", "3", "media"] == 1.0
    (info,) = readings(poll, seen.table, OPTICS_INFO)
    assert info[-1] == "pluggable"


def test_several_images_are_ports_by_their_files_names_and_a_bad_one_costs_itself(
    tmp_path: Path,
) -> None:
    for name in ("Ethernet0", "Ethernet8"):
        (tmp_path / f"{name}.json").write_text(as_json(pages_of("sr8")))
    (tmp_path / "Ethernet16.json").write_text('{"lower": "zz"}')
    seen = Seen()
    poll = seen.poll(tmp_path)
    ports = {labels[1] for labels in readings(poll, seen.table, TEMPERATURE)}
    assert ports == {"Ethernet0", "Ethernet8"}
    assert [(one.reason, one.labels["port"]) for one in poll.refused] == [
        (Reason.MALFORMED, "Ethernet16")
    ]


def test_what_is_no_image_at_all_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(SourceUnavailable, match="no image of a module"):
        Seen().poll(tmp_path)


def test_what_is_wrong_with_a_module_is_counted_once(tmp_path: Path) -> None:
    pages = pages_of("2xfr4")
    spoiled = bytearray(pages["00"])
    spoiled[1] ^= 1
    pages["00"] = bytes(spoiled)
    pages["2c"] = pages["lower"]
    file = tmp_path / "a.json"
    file.write_text(as_json(pages))
    seen = Seen()
    first = {one.what: one.reason for one in seen.poll(file).refused}
    assert first["checksum 00h:222"] == Reason.MALFORMED
    assert first["page 2ch"] == Reason.MALFORMED
    assert "checksum 00h:222" not in {one.what for one in seen.poll(file).refused}


# The kernel


class FakeCage:
    """A cage by half pages, that counts what is read of it; some pages may fail."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.failing: dict[str, Exception] = {}
        self.reads: list[str] = []

    def module_page(
        self, interface: str, page: int, *, upper: bool, bank: int = 0, address: int = 0x50
    ) -> bytes:
        name = "a2" if address == 0x51 else (f"{page:02x}" if upper else "")
        name = f"{bank}:{name}" if bank else name
        self.reads.append(name)
        if name in self.failing:
            raise self.failing[name]
        return self.memory.pages.get(name, self.memory.pages["00"]) if name else self.memory.lower

    def module_image(self, interface: str) -> bytes:
        raise OSError(95, os.strerror(95))


class Plugged:
    """A host's reader of one cage."""

    def __init__(self, memory: Memory, identity_every: float = 600.0) -> None:
        self.cage = FakeCage(memory)
        self.table = SeriesTable()
        self.reader = ModuleReader(self.cage, identity_every)
        alone = OneReader(f"test.{os.getpid()}.")
        self.modules = HostModules(self.reader, ModuleColumns(self.table), 1.0, 600.0, alone)

    def poll(self, at: float) -> Poll:
        columns = Columns(self.table)
        self.cage.reads.clear()
        self.modules.read(CARD, at, columns)
        return columns.poll(0, at)

    def close(self) -> None:
        self.modules.close()


Plug = Callable[..., Plugged]


@pytest.fixture
def plugged() -> Iterator[Plug]:
    """Return a maker of hosts that closes what it made."""
    made: list[Plugged] = []

    def make(memory: Memory, **settings: float) -> Plugged:
        made.append(Plugged(memory, **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_what_stands_still_is_read_once_and_what_moves_each_time(plugged: Plug) -> None:
    host = plugged(memory_of("2xfr4"))
    host.poll(0.0)
    first = list(host.cage.reads)
    assert {"00", "01", "02", "20", "2f"} <= set(first)
    poll = host.poll(60.0)
    assert set(host.cage.reads) == {"", "11", "24", "25", "2c"}
    assert len(readings(poll, host.table, SNR)) == 16
    assert len(readings(poll, host.table, THRESHOLD)) > 16


def test_pages_that_a_module_does_not_advertise_are_not_asked_for(plugged: Plug) -> None:
    host = plugged(memory_of("lpo"))
    assert host.poll(0.0).refused == []
    assert set(host.cage.reads) == {"", "00", "01", "02", "11"}


def test_another_module_in_the_cage_is_another_module(plugged: Plug) -> None:
    host = plugged(memory_of("dr4"))
    host.poll(0.0)
    host.cage.memory = memory_of("lpo")
    assert {labels[-1] for labels in readings(host.poll(60.0), host.table, OPTICS_INFO)} == {"lpo"}


def test_one_of_the_same_kind_is_noticed_when_its_page_00h_is_read_again(plugged: Plug) -> None:
    host = plugged(memory_of("dr4"), identity_every=600.0)
    host.poll(0.0)
    host.cage.memory = memory_of("dr4", serial="S2")
    serials = [
        {labels[4] for labels in readings(host.poll(at), host.table, OPTICS_INFO)}
        for at in (60.0, 601.0)
    ]
    assert serials == [{"S1"}, {"S2"}]


def test_another_firmware_is_told_at_once(plugged: Plug) -> None:
    host = plugged(memory_of("dr4", firmware="1.7"))
    host.poll(0.0)
    host.cage.memory = memory_of("dr4", firmware="1.8")
    (info,) = readings(host.poll(60.0), host.table, OPTICS_INFO)
    assert info[6] == "1.8"


def test_a_page_that_fails_costs_only_what_is_on_it_until_it_comes_back(plugged: Plug) -> None:
    host = plugged(memory_of("dr4"))
    host.cage.failing = {"11": OSError(5, os.strerror(5))}
    first = host.poll(0.0)
    assert [(one.reason, one.what) for one in first.refused] == [(Reason.FAILED, "page 11h")]
    assert readings(first, host.table, TEMPERATURE) != {}
    assert readings(first, host.table, RX_POWER) == {}
    host.cage.failing = {}
    assert len(readings(host.poll(60.0), host.table, RX_POWER)) == 4


def test_an_answer_that_is_no_page_costs_only_that_page(plugged: Plug) -> None:
    host = plugged(memory_of("dr4"))
    host.cage.failing = {"11": MalformedReply("half a module page has 3 bytes, not 128")}
    poll = host.poll(0.0)
    assert [(one.reason, one.what) for one in poll.refused] == [(Reason.MALFORMED, "page 11h")]
    assert readings(poll, host.table, TEMPERATURE) != {}


def test_lanes_come_back_when_the_bus_does(plugged: Plug) -> None:
    well = memory_of("dr4")
    host = plugged(Memory(well.lower, dict(well.pages) | {"11": b"\xff" * HALF}))
    first = host.poll(0.0)
    assert "page 11h" in {one.what for one in first.refused}
    host.cage.memory = well
    assert len(readings(host.poll(60.0), host.table, RX_POWER)) == 4


def test_a_module_that_turns_to_nonsense_is_refused(plugged: Plug) -> None:
    host = plugged(memory_of("dr4"))
    host.poll(0.0)
    host.cage.memory = Memory(bytes(HALF), {"00": bytes(HALF)})
    assert [one.reason for one in host.poll(60.0).refused] == [Reason.MALFORMED]


def test_a_module_has_one_reader(plugged: Plug) -> None:
    host, other = plugged(memory_of("dr4")), plugged(memory_of("dr4"))
    assert host.poll(0.0).readings
    refused = other.poll(0.0).refused
    assert [(one.reason, one.raw) for one in refused] == [(Reason.FAILED, TAKEN)]
    assert other.cage.reads == []
    host.close()
    assert other.poll(601.0).readings


def test_a_claim_ends_when_it_is_given_up() -> None:
    one, other = OneReader(), OneReader()
    name = f"fhtest{os.getpid()}"
    assert one.claim(name)
    assert one.claim(name)
    assert not other.claim(name)
    one.close()
    assert other.claim(name)
    other.close()


@pytest.mark.skipif(not Path("/sys/class/net/lo").exists(), reason="no Linux network devices here")
def test_an_interface_that_is_not_there_is_unavailable() -> None:
    source = Eeprom(EepromSettings(), Target("host-001", "eeprom", "fhnone0"), SeriesTable())
    with pytest.raises(SourceUnavailable, match="no interface fhnone0"):
        asyncio.run(source.read(AT))


def test_a_file_that_a_driver_keeps_is_read_like_a_device(tmp_path: Path) -> None:
    file = tmp_path / "eeprom"
    file.write_bytes(linear("cwdm4"))
    table = SeriesTable()
    source = Eeprom(EepromSettings(), Target("leaf-01", "eeprom", str(file)), table)
    poll = asyncio.run(source.read(AT))
    assert len(readings(poll, table, RX_POWER)) == 4


# The report


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_report(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(as_json(pages_of(kind)))
    seen = Seen()
    seen.poll(file)
    lines = list(seen.source.report(explain=True) or ())
    assert KINDS[kind].part in "\n".join(lines)
    assert "nan" not in "\n".join(lines).split()
