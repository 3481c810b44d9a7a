"""InfiniBand's tools: what they print, and the real ones on a simulated fabric."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.fabric import replies
from collectors.protocols import ib_counters, ib_failures, ib_links, ibdiagnet, ibswinfo
from collectors.source import Target
from collectors.sources.ibtools import Ibtools, IbtoolsSettings
from fabrichealth.catalogue.devices import BOOT_TIME, DEVICE_TEMPERATURE, FAN_SPEED
from fabrichealth.catalogue.infiniband import DESCRIPTION_INFO
from fabrichealth.catalogue.ports import (
    ADMIN_UP,
    LANES,
    LINK_DOWNS,
    SPEED,
    SYMBOL_ERRORS,
    TRANSMIT_WAIT,
    TX_BYTES,
    UP,
)
from fabrichealth.catalogue.power import SUPPLY_HEALTHY
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from fabrichealth.topology import Discovery, Topology
from fabrichealth.topology.rows import Device, Link, PortFacts
from tests.fixtures import readings

AT = 1_800_000_000.0
LEAF, HCA = "0x00000000000000a1", "0x00000000000000b1"


def source(topology: Topology | None = None, device: str = "", **given: object) -> Ibtools:
    settings = IbtoolsSettings.model_validate(given)
    target = Target("fabric", "ibtools", "", device, {}, topology or Topology())
    return Ibtools(settings, target, SeriesTable())


def look(folder: Path, of: Ibtools | None = None, **files: str) -> tuple[Poll, Ibtools]:
    """Return what one poll makes of the outputs of some tools."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_stderr", ".stderr")).write_text(text)
    one = of or source()
    return one.captured([folder], AT), one


LINKINFO = """\
0x00000000000000a1 "          leaf "one" row"      5    1[  ] ==( 4X         106.25 Gbps Active/  LinkUp)==>  0x00000000000000b1      7    1[  ] "gpu HCA-1" ( )
0x00000000000000a1 "          leaf "one" row"      5    2[  ] ==(                Down/Disabled)==>             [  ] "" ( )
0x00000000000000a1 "          leaf "one" row"      5    3[  ] ==(                Down/ Polling)==>             [  ] "" ( )
0x00000000000000b1 "gpu HCA-1"      7    1[  ] ==( 2X         53.125 Gbps Active/  LinkUp)==>  0x00000000000000a1      5    1[  ] "leaf" (Could be 4X)
"""  # noqa: E501 - as wide as the tool prints it

EXTENDED = """\
# Port extended counters: Lid 5 port 1 (CapMask: 0x5300 CapMask2: 0x{mask:07x})
PortSelect:......................1
CounterSelect:...................0x0000
PortXmitData:....................1000
PortRcvData:.....................2000
SymbolErrorCounter:..............{errors}
LinkDownedCounter:...............255
PortXmitWait:....................4000000000
"""


def test_iblinkinfo_tells_state_rate_and_far_end(tmp_path: Path) -> None:
    poll, one = look(tmp_path / "sweep", links=LINKINFO)
    assert readings(poll, one.table, UP) == {
        (LEAF, "1"): 1,
        (LEAF, "2"): 0,
        (LEAF, "3"): 0,
        (HCA, "1"): 1,
    }
    assert readings(poll, one.table, ADMIN_UP)[LEAF, "2"] == 0.0
    assert readings(poll, one.table, SPEED) == {(LEAF, "1"): 400e9, (HCA, "1"): 100e9}
    assert readings(poll, one.table, LANES) == {(LEAF, "1"): 4, (HCA, "1"): 2}
    assert poll.neighbors == [
        Neighbor(LEAF, "1", HCA, "1", "ibnetdiscover"),
        Neighbor(HCA, "1", LEAF, "1", "ibnetdiscover"),
    ]
    said = {labels[1] for labels in readings(poll, one.table, DESCRIPTION_INFO)}
    assert said == {'leaf "one" row', "gpu HCA-1"}


def test_names_are_the_topologys_by_guid_and_never_the_description(tmp_path: Path) -> None:
    ports = {"mlx5_0/1": PortFacts(uid=f"{HCA}:1")}
    known = Topology(
        [
            Device(name="leaf-01", role="switch", ids=("0x00000000000000A1",)),
            Device(name="host-001", role="host", ids=(HCA, "0x00000000000000b2"), ports=ports),
            Device(name="gpu HCA-1", role="host"),
        ]
    )
    other = LINKINFO.replace("b1", "b2")
    poll, one = look(tmp_path / "sweep", source(known), links=LINKINFO, more=other)
    found = set(readings(poll, one.table, SPEED))
    second = ("host-001", "0x00000000000000b2/1")  # two adapters never share a port
    assert found == {("leaf-01", "1"), ("host-001", "mlx5_0/1"), second}


def test_a_guid_of_a_port_is_its_nodes(tmp_path: Path) -> None:
    discovered = (
        'Switch\t8 "S-00000000000000a1"\t\t# "leaf" base port 0 lid 5 lmc 0\n'
        '[1]\t"H-00000000000000b0"[1](b1) \t\t# "gpu" lid 7 4xNDR\n\n'
        'Ca\t1 "H-00000000000000b0"\t\t# "gpu"\n'
        '[1](b1) \t"S-00000000000000a1"[1]\t\t# lid 7 lmc 0 "leaf" lid 5 4xNDR\n'
    )
    poll, one = look(tmp_path / "sweep", blocks=discovered, links=LINKINFO)
    node = "0x00000000000000b0"
    assert set(readings(poll, one.table, SPEED)) == {(LEAF, "1"), (node, "1")}
    assert len(poll.neighbors) == 2


@pytest.mark.parametrize("mask", [0, 2])
def test_error_counters_of_64_bit_are_there_only_where_the_port_offers_them(
    tmp_path: Path, mask: int
) -> None:
    perf = EXTENDED.format(mask=mask, errors=70_000)
    poll, one = look(tmp_path / "sweep", links=LINKINFO, perf=perf)
    assert readings(poll, one.table, TX_BYTES) == {(LEAF, "1"): 4000.0}
    if mask:
        assert readings(poll, one.table, SYMBOL_ERRORS) == {(LEAF, "1"): 70_000.0}
        assert readings(poll, one.table, LINK_DOWNS) == {(LEAF, "1"): 255.0}
        wait = readings(poll, one.table, TRANSMIT_WAIT)[LEAF, "1"]
        assert wait == pytest.approx(4e9 * 32 / 400e9)  # ticks of 4 octets at 400 Gbit/s
        assert poll.refused == []
    else:
        assert readings(poll, one.table, SYMBOL_ERRORS) == {}
        assert [refused.reason for refused in poll.refused] == [Reason.UNSUPPORTED] * 3


HEAD = "# Port counters: Lid 5 port 1 (CapMask: 0x00)\n"
PLAIN = HEAD + "PortXmitData:....................123456789\n"


@pytest.mark.parametrize(
    "cut",
    [
        pytest.param(PLAIN[:-7], id="in the middle of a number"),
        pytest.param(PLAIN.partition("\n")[0] + "\n", id="before the first counter"),
        pytest.param(PLAIN.partition("\n")[0], id="behind the heading"),
    ],
)
def test_counters_that_are_cut_off_are_missing_and_never_another_number(
    tmp_path: Path, cut: str
) -> None:
    poll, one = look(tmp_path, perfquery=cut)
    assert readings(poll, one.table, TX_BYTES) == {}
    assert len(poll.missing) == 1


def test_counters_of_one_port_twice_in_a_poll_are_refused_and_the_first_kept(
    tmp_path: Path,
) -> None:
    poll, one = look(tmp_path, perfquery=PLAIN + PLAIN.replace("123456789", "5"))
    assert list(readings(poll, one.table, TX_BYTES).values()) == [4.0 * 123456789]
    assert [refused.reason for refused in poll.refused] == [Reason.DUPLICATE]


def test_waiting_of_a_port_without_a_known_speed_is_refused(tmp_path: Path) -> None:
    poll, _ = look(tmp_path, perfquery=PLAIN + "PortXmitWait:....................1200\n")
    (refused,) = poll.refused
    assert (refused.reason, refused.what) == (Reason.UNSUPPORTED, str(TRANSMIT_WAIT))
    assert "no speed" in str(refused.raw)


def test_a_classic_counter_at_its_maximum_says_at_least(tmp_path: Path) -> None:
    text = (
        "# Port counters: Lid 5 port 1 (CapMask: 0x1300)\nSymbolErrorCounter:....65535\n"
        "LinkDownedCounter:......3\n"
    )
    first, one = look(tmp_path / "1", links=LINKINFO, perf=text)
    assert readings(first, one.table, SYMBOL_ERRORS) == {(LEAF, "1"): 65535.0}
    assert [refused.reason for refused in first.refused] == [Reason.SENSOR_FAULT]
    second, _ = look(tmp_path / "1", one)
    assert readings(second, one.table, SYMBOL_ERRORS) == {}
    assert readings(second, one.table, LINK_DOWNS) == {(LEAF, "1"): 3.0}
    cleared, _ = look(tmp_path / "1", one, perf=text.replace("65535", "2"))
    assert readings(cleared, one.table, SYMBOL_ERRORS) == {(LEAF, "1"): 2.0}


QUERY = """\
Errors for 0xa1 "row 2: 'blue' [x == 3]"
   GUID 0xa1 port ALL: [SymbolErrorCounter == 9]
   GUID 0xa1 port 4: [SymbolErrorCounter == 9] [PortXmitWait == 1000] [PortXmitData == 250 (1.0kB)]

## Summary: 30 nodes checked, 1 bad nodes found
"""
STDERR = """\
src/query_smp.c:1; umad (DR path slid 0; dlid 0; 0,1,4 Attr 0x11:0) bad status 110; timed out
ibwarn: [7] query: PortRcvErrorDetails query failed on node 9, Lid 3 port 1
a line about nothing
"""


def test_a_partial_sweep_is_good_where_it_answered(tmp_path: Path) -> None:
    links = [Link(a=f"{LEAF}/4", b="x/1", technology="ib", speed_gbps=200)]
    devices = [Device(name=LEAF, role="switch"), Device(name="x", role="switch")]
    one = source(Topology(devices, links))
    poll, _ = look(tmp_path / "sweep", one, errors=QUERY, errors_stderr=STDERR)
    assert readings(poll, one.table, SYMBOL_ERRORS) == {(LEAF, "4"): 9.0}
    assert readings(poll, one.table, TX_BYTES) == {(LEAF, "4"): 1000.0}
    assert readings(poll, one.table, TRANSMIT_WAIT)[LEAF, "4"] == pytest.approx(1000 * 32 / 200e9)
    assert readings(poll, one.table, DESCRIPTION_INFO) == {(LEAF, "row 2: 'blue' [x == 3]"): 1.0}
    assert poll.missing == ["DR path slid 0; dlid 0; 0,1,4", "node 9 port 1"]
    assert [refused.reason for refused in poll.refused] == [Reason.FAILED] * 2


def test_a_tool_that_printed_nothing_is_missing(tmp_path: Path) -> None:
    poll, _ = look(tmp_path / "sweep", perfquery_1="", links=LINKINFO)
    assert poll.missing == ["perfquery_1"]
    assert [refused.reason for refused in poll.refused] == [Reason.FAILED]


def test_counters_of_a_lid_that_nobody_listed_are_the_captures(tmp_path: Path) -> None:
    file = tmp_path / "fabric.out"
    file.write_text(EXTENDED.format(mask=2, errors=1))
    one = source()
    assert readings(one.captured([file], AT), one.table, SYMBOL_ERRORS) == {("fabric", "1"): 1.0}


SWITCH = """\
part number        | P-1
product name       | Quick
ports              | 40
GUID               | 0xa1
firmware version   | 27.1
uptime (d-h:m:s)   | 2d-01:00:30
PSU0 status        | OK
     DC power      | OK
     fan status    | ERROR
PSU1 status        | OK
     DC power      | OK
     fan status    | OK
temperature (C)    | 45
fan status         | OK
fan#1 (rpm)        | 8493
fan#2 (rpm)        | N/A
"""


def test_an_unmanaged_switch_tells_of_its_hardware(tmp_path: Path) -> None:
    poll, one = look(tmp_path / "sweep", switch=SWITCH)
    assert readings(poll, one.table, DEVICE_TEMPERATURE) == {(LEAF, "chip"): 45.0}
    assert readings(poll, one.table, FAN_SPEED) == {(LEAF, "1"): 8493.0}
    assert readings(poll, one.table, BOOT_TIME) == {(LEAF,): AT - 2 * 86400 - 3630}
    supplies = {
        labels[1]: value for labels, value in readings(poll, one.table, SUPPLY_HEALTHY).items()
    }
    assert supplies == {f"{LEAF}/PSU0": 0.0, f"{LEAF}/PSU1": 1.0}


DATABASE = """\
START_NODES
NodeDesc,NumPorts,NodeType,NodeGUID,PortGUID
"leaf, one",40,2,0xa1,0xa1
END_NODES

START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0xa1,1,0xb1,1
END_LINKS

START_PM_INFO
NodeGUID,PortGUID,PortNumber,SymbolErrorCounter,PortXmitData,PortXmitDataExtended
0xa1,0xa1,1,5,0xffffffff,8589934592
0xa1,0xa1
END_PM_INFO
"""


def test_ibdiagnets_database_is_read_by_the_names_of_its_columns(tmp_path: Path) -> None:
    poll, one = look(tmp_path / "sweep", db=DATABASE)
    assert readings(poll, one.table, SYMBOL_ERRORS) == {(LEAF, "1"): 5.0}
    assert readings(poll, one.table, TX_BYTES) == {(LEAF, "1"): 4.0 * 2**33}
    assert readings(poll, one.table, UP) == {(LEAF, "1"): 1.0, (HCA, "1"): 1.0}
    assert [refused.reason for refused in poll.refused] == [Reason.MALFORMED]


FRAGMENTS = st.sampled_from(
    [*LINKINFO.splitlines(), *EXTENDED.splitlines(), *QUERY.splitlines(), *STDERR.splitlines(),
     *SWITCH.splitlines(), *DATABASE.splitlines(), 'Ca 1 "H-b0" # "x"',
     '[1](b1) "S-a1"[1] # "l" 4xNDR']
)  # fmt: skip


@given(st.lists(FRAGMENTS | st.text(max_size=60), max_size=12), st.data())
def test_any_text_is_understood_or_passed_over(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join(lines)
    cut = data.draw(st.integers(0, len(text)))
    text = text[:cut] + data.draw(st.text(max_size=5)) + text[cut:]
    replies.said(text)
    for links in (ib_links.linkinfo(text), ib_links.ports(text), ib_links.blocks(text)):
        assert all(len(end.here.guid) == 16 for end in links.ends)
    for row in (*ib_counters.perfquery(text), *ib_counters.queryerrors(text).rows):
        assert all(0 <= value < 2**64 for value in row.counters.values())
    ib_failures.failures(text)
    ibswinfo.info(text)
    list(ibdiagnet.sections(text))


SIMULATED = """\
Switch 4 "leaf"
[1] "near"[1]
[2] "far"[1]

Hca 1 "near"
[1] "leaf"[1]

Hca 1 "far"
[1] "leaf"[2]
"""
UMAD = next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"), None)
TOOLS = ("ibsim", "opensm", "iblinkinfo", "perfquery", "ibnetdiscover")


class Simulation:
    """A fabric of ibsim's, whose console takes faults."""

    def __init__(self, folder: Path) -> None:
        net = folder / "net"
        net.write_text(SIMULATED)
        read, self._console = os.pipe()
        self._child = subprocess.Popen(
            ["ibsim", "-s", str(net)], cwd=folder, stdin=read, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(read)

    def tell(self, line: str) -> None:
        os.write(self._console, f"{line}\n".encode())
        time.sleep(0.2)

    def stop(self) -> None:
        os.close(self._console)
        with suppress(ProcessLookupError):
            self._child.send_signal(signal.SIGKILL)
        self._child.communicate()


@pytest.fixture
def simulation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulation]:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing or UMAD is None:
        pytest.skip(f"not installed: {', '.join(missing or ['umad2sim'])}")
    made = Simulation(tmp_path)
    try:
        time.sleep(0.5)
        monkeypatch.setenv("LD_PRELOAD", str(UMAD))
        monkeypatch.setenv("SIM_HOST", "near")
        monkeypatch.chdir(tmp_path)
        log = str(tmp_path / "osm.log")
        opened = subprocess.run(
            ["timeout", "-s", "KILL", "20", "opensm", "-o", "-f", log],
            capture_output=True, check=False,
        )  # fmt: skip
        if opened.returncode:
            pytest.skip(f"no subnet came up: {opened.stderr.decode()[-200:]}")
        yield made
    finally:
        made.stop()


async def test_the_real_tools_on_a_simulated_fabric(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = source(timeout="20s")
    before = await one.read(AT)
    up = readings(before, one.table, UP)
    (leaf,) = {device for device, port in up if port == "4"}
    assert {port: value for (device, port), value in up.items() if device == leaf} == {
        "1": 1.0, "2": 1.0, "3": 0.0, "4": 0.0,
    }  # fmt: skip
    assert set(readings(before, one.table, SYMBOL_ERRORS).values()) == {0.0}
    assert readings(before, one.table, SPEED)[leaf, "1"] == 10e9
    assert len(before.neighbors) == 4
    monkeypatch.delenv("LD_PRELOAD")
    simulation.tell('PerformanceSet "leaf"[1] PortCounters.SymbolErrorCounter=77')
    simulation.tell('Unlink "far"[1]')
    monkeypatch.setenv("LD_PRELOAD", str(UMAD))
    after = await one.read(AT + 60)
    await one.close()
    assert readings(after, one.table, SYMBOL_ERRORS)[leaf, "1"] == 77.0
    assert readings(after, one.table, UP)[leaf, "2"] == 0.0
    assert readings(after, one.table, UP)[leaf, "1"] == 1.0
    assert readings(after, one.table, TX_BYTES)[leaf, "1"] > 0


async def test_what_was_unplugged_in_a_simulated_fabric_is_a_stale_link(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = source(timeout="20s")
    discovery = Discovery(Topology())
    discovery.hear((await one.read(AT)).neighbors, AT)
    before = discovery.found(AT)
    assert [len(link.told_by) for link in before.links] == [2, 2]
    assert before.doubts == ()
    monkeypatch.delenv("LD_PRELOAD")
    simulation.tell('Unlink "far"[1]')
    monkeypatch.setenv("LD_PRELOAD", str(UMAD))
    discovery.hear((await one.read(AT + 60)).neighbors, AT + 60)
    await one.close()
    after = discovery.found(AT + 60)
    assert {link.id for link in after.links} == {link.id for link in before.links}
    (gone,) = (link for link in after.links if link.stale)
    assert "2" in {end.port for end in gone.ends}  # of the leaf


async def test_a_host_without_the_tools_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SourceUnavailable, match=r"fabric: ibnetdiscover cannot be run"):
        await source().read(AT)


async def test_a_tool_that_hangs_is_ended_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tool in ("ibnetdiscover", "iblinkinfo"):
        script = tmp_path / tool
        script.write_text(
            f"#!/bin/sh\necho $$ >> {tmp_path}/pids\nsleep 60 &\necho $! >> {tmp_path}/pids\nwait\n"
        )
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(
        SourceUnavailable, match=r"fabric: iblinkinfo listed nothing \(no end in time\)"
    ):
        await source(timeout="600ms").read(AT)
    time.sleep(0.1)
    for pid in (tmp_path / "pids").read_text().split():
        status = Path(f"/proc/{pid}/stat")
        assert not status.exists() or status.read_text().split()[2] == "Z"
