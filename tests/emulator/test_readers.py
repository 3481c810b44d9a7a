"""What the emulated supernode tells through each device and tool is what our sources read."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from collectors.source import Source, Target
from collectors.sources.gnmi import Gnmi
from collectors.sources.hccn import Hccn
from collectors.sources.ibtools import Ibtools
from collectors.sources.kernlog import Kernlog, KernlogSettings
from collectors.sources.mlxlink import Mlxlink
from collectors.sources.nvsmi import Nvsmi
from collectors.sources.prom import Prom, PromSettings
from collectors.sources.sonic import Sonic
from collectors.sources.ufm import Ufm
from emulator import openconfig, ufm
from emulator.fabric import Fabric
from emulator.faults import DirtyConnector, PausingReceiver, SickReceiver, Unplugged
from emulator.gnmi import GnmiDevice
from emulator.hosttree import HostTree, Nic
from emulator.kernlog import KernelLog
from emulator.pages import ualink
from emulator.plan import Plan
from emulator.resp import RespServer
from emulator.sonic import SonicSwitch
from emulator.tools import hccn_tool, mlxlink, nvidia_smi
from emulator.tools.infiniband import Subnet
from emulator.tools.shelf import Shelf
from fabrichealth.catalogue.accelerators import ERRORS
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE, PFC_TX_PAUSE
from fabrichealth.catalogue.devices import LOG_EVENTS
from fabrichealth.catalogue.optics import RX_POWER, TX_BIAS
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    FEC_CORRECTED_BITS,
    PRE_FEC_BER,
    REPLAYS,
    SPEED,
    SYMBOL_ERRORS,
    UP,
)
from fabrichealth.model import Neighbor, Poll, SeriesTable
from fabrichealth.topology import Device, Topology
from tests.fixtures import readings

AT = 1_800_000_000.0
PLAN = Plan(racks=1, hosts_per_rack=4, accelerators=2, rails=2, access=("sonic", "gnmi"))
TOPOLOGY = Topology([Device(**one) for one in PLAN.topology()["devices"]])
DIRTY = "tor-01/Ethernet0"
SICK = "leaf-01/1"


@dataclass
class Reader:
    """A source and what it said once."""

    source: Source
    poll: Poll = field(default_factory=lambda: Poll([]))

    def of(self, metric: Any) -> dict[tuple[str, ...], float]:
        return readings(self.poll, self.source.table, metric)


async def read(kind: type[Source], target: str, address: str = "", **options: str) -> Reader:
    name = kind.__module__.rpartition(".")[2]
    settings = kind.settings_type.model_validate({"timeout": "10s"})
    reader = Reader(
        kind(settings, Target(target, name, address, "", options, TOPOLOGY), SeriesTable()),
    )
    try:
        reader.poll = await reader.source.read(AT + 40)
    finally:
        await reader.source.close()
    return reader


@pytest.fixture
def fabric() -> Fabric:
    """A fabric with a dirty connector, a sick receiver, a pausing port and an unplugged cable."""
    fabric = Fabric(PLAN, 7, AT)
    fabric.advance(AT + 5)
    unplugged = next(one.id for one in PLAN.rails_cables if one.a == "host-002/mlx5_1/1")
    for fault in (
        DirtyConnector(0, 60, DIRTY, loss_db=2.0),
        PausingReceiver(0, 60, "tor-02/ethernet-1/1", duty=0.25),
        SickReceiver(0, 60, SICK, symbol_errors=2.0),
        SickReceiver(0, 60, "host-001-1/nvlink/2", replays=3.0),
        Unplugged(0, 60, unplugged),
    ):
        fault.begin(fabric)
    for step in range(2, 9):
        fabric.advance(AT + 5 * step)
    return fabric


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """Tools of others, first on the path."""
    shelf = Shelf(tmp_path / "tools")
    monkeypatch.setenv("PATH", f"{shelf.bin}{os.pathsep}{os.environ['PATH']}")
    return shelf


async def test_a_sonic_switch_shows_dirt_as_light_codewords_and_ber(fabric: Fabric) -> None:
    server = RespServer(SonicSwitch(fabric, "tor-01").database, password="word")  # noqa: S106
    await server.start()
    os.environ["EMULATED_REDIS"] = "word"
    try:
        address = f"redis://127.0.0.1:{server.port}"
        reader = await read(Sonic, "tor-01", address, secret_env="EMULATED_REDIS")  # noqa: S106
    finally:
        del os.environ["EMULATED_REDIS"]
        await server.stop()
    dirty, clean = ("tor-01", "Ethernet0"), ("tor-01", "Ethernet8")
    light = reader.of(RX_POWER)
    assert light[*dirty, "1"] == pytest.approx(light[*clean, "1"] - 2.0, abs=0.01)
    assert reader.of(PRE_FEC_BER)[dirty] > 1e3 * reader.of(PRE_FEC_BER)[clean]
    assert reader.of(FEC_CORRECTED_BITS)[dirty] == int(fabric.optical(DIRTY).corrected_bits)
    assert reader.of(FEC_CODEWORDS)[*dirty, "3"] == fabric.optical(DIRTY).codewords[3] > 0
    assert Neighbor("tor-01", "Ethernet0", "host-001", "eth0", "lldp") in reader.poll.neighbors
    assert not reader.poll.refused


async def test_both_ends_of_a_cable_tell_of_one_pause(fabric: Fabric) -> None:
    server = RespServer(SonicSwitch(fabric, "spine-01").database)
    await server.start()
    try:
        reader = await read(Sonic, "spine-01", f"redis://127.0.0.1:{server.port}")
    finally:
        await server.stop()
    pausing = fabric.ethernet("tor-02/ethernet-1/1")
    assert pausing.tx_pause_seconds[3] == pytest.approx(0.25 * 35)
    stopped = fabric.ethernet(fabric.peer(fabric.ports["tor-02/ethernet-1/1"]).name)
    assert stopped.rx_pause_seconds == pausing.tx_pause_seconds
    assert reader.of(PFC_TX_PAUSE)["spine-01", "Ethernet0", "3"] == 0.0
    assert set(reader.of(PFC_RX_PAUSE).values()) == {0.0}


async def test_a_switch_streams_the_same_state_over_gnmi(fabric: Fabric) -> None:
    device = GnmiDevice({"": openconfig.values(fabric, "tor-02")}, now=lambda: AT + 40)
    await device.start()
    try:
        reader = await read(Gnmi, "tor-02", f"grpc://127.0.0.1:{device.port}")
    finally:
        await device.stop()
    port = ("tor-02", "ethernet-1/1")
    module = fabric.optical("/".join(port)).module
    assert reader.of(UP)[port] == 1.0
    assert reader.of(SPEED)[port] == 400e9
    assert reader.of(TX_BIAS)[*port, "1"] == pytest.approx(module.bias_ma[0] / 1000, rel=1e-3)
    assert Neighbor(*port, "host-002", "eth0", "lldp") in reader.poll.neighbors


async def test_infinibands_tools_walk_the_rails(fabric: Fabric, shelf: Shelf) -> None:
    subnet = Subnet(fabric)
    shelf.put(("iblinkinfo", "--line"), subnet.iblinkinfo())
    shelf.put(("ibnetdiscover",), subnet.ibnetdiscover())
    for node in subnet.nodes:
        asked = ("-l", "-a", str(node.lid)) if node.switch else (str(node.lid), "1")
        shelf.put(("perfquery", "-x", *asked), subnet.perfquery(node))
    reader = await read(Ibtools, "fabric")
    leaf = f"0x{fabric.plan.guid('leaf-01')}"
    sick, out = (leaf, "1"), (f"0x{fabric.plan.guid('host-002', 1)}", "1")
    assert reader.of(SYMBOL_ERRORS)[sick] == int(fabric.ports[SICK].symbol_errors) > 0
    assert reader.of(UP)[sick] == 1.0
    assert reader.of(UP)[out] == 0.0
    assert len(reader.poll.neighbors) == 2 * (len(fabric.plan.rails_cables) - 1)
    assert not reader.poll.missing


async def test_ufm_counts_what_the_tools_count(fabric: Fabric) -> None:
    async def serve(_: web.Request) -> web.Response:
        return web.Response(text=ufm.page(fabric), content_type="text/csv")

    app = web.Application()
    app.router.add_get("/csv/metrics", serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        reader = await read(Ufm, "ufm", f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()
    errors = int(fabric.ports[SICK].symbol_errors)
    assert reader.of(SYMBOL_ERRORS)[f"0x{fabric.plan.guid('leaf-01')}", "1"] == errors


async def test_mlxlink_knows_what_the_firmware_knows(
    fabric: Fabric, shelf: Shelf, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    HostTree(root, [Nic("mlx5_0", fabric.plan.guid("host-001"), "0000:10:00.0")], AT).update()
    words = ("mlxlink", "-d", "mlx5_0", "-p", "1", "-c", "-m", "--json")
    state = fabric.ports["host-001/mlx5_0/1"]
    shelf.put((*words, "--rx_fec_histogram", "--show_histogram"), mlxlink.port(state))
    reader = await read(Mlxlink, "host-001", root=str(root))
    optical = fabric.optical(state.name)
    port = ("host-001", "mlx5_0/1")
    assert reader.of(PRE_FEC_BER)[port] == pytest.approx(optical.pre_fec_ber, rel=0.5)
    assert reader.of(FEC_CODEWORDS)[*port, "1"] == int(optical.codewords[1])


async def test_nvidia_smi_lists_links_and_their_replays(fabric: Fabric, shelf: Shelf) -> None:
    shelf.put(("nvidia-smi", "-q", "-x"), nvidia_smi.query(fabric, "host-001"))
    shelf.put(("nvidia-smi", "nvlink", "-s"), nvidia_smi.links(fabric, "host-001"))
    shelf.put(("nvidia-smi", "nvlink", "-e"), nvidia_smi.errors(fabric, "host-001"))
    reader = await read(Nvsmi, "host-001")
    replays = int(fabric.ports["host-001-1/nvlink/2"].replays)
    assert reader.of(REPLAYS)["host-001-1", "nvlink/2"] == replays > 0
    assert reader.of(UP)["host-001-1", "nvlink/2"] == 1.0


async def test_hccn_tool_tells_of_an_npus_port(
    fabric: Fabric, shelf: Shelf, tmp_path: Path
) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "davinci0").touch()
    for question, text in hccn_tool.answers(fabric, "host-001/eth0").items():
        shelf.put(("hccn_tool", "-i", "0", question, "-g"), text)
    reader = await read(Hccn, "host-001", root=str(tmp_path))
    port = ("host-001-0", "roce/0")
    assert reader.of(UP)[port] == 1.0
    assert reader.of(RX_POWER)[*port, "1"] == pytest.approx(-1.0, abs=0.05)


async def test_the_kernels_log_tells_of_codes_and_links(fabric: Fabric, tmp_path: Path) -> None:
    log = KernelLog(fabric, "host-001")
    file = tmp_path / "kern.log"
    assert log.lines() == []
    fabric.hosts["host-001"].accelerators[1].xid = 79
    fabric.unplugged.add(fabric.ports["host-001/eth0"].cable.id)
    fabric.advance(AT + 45)
    file.write_text("".join(f"{line}\n" for line in log.lines()))
    assert log.lines() == []
    source = Kernlog(
        KernlogSettings(), Target("host-001", "kernlog", str(file), "", {}, TOPOLOGY), SeriesTable()
    )
    first = await source.read(AT + 45)  # a counter begins at 0 before it rises
    later = await source.read(AT + 50)
    await source.close()
    assert [(one.scope["device"], one.more["code"]) for one in first.events] == [
        ("host-001-1", "xid:79"),
        ("host-001", "link:down"),
    ]
    for metric, expected in (
        (ERRORS, ("host-001-1", "xid:79")),
        (LOG_EVENTS, ("host-001", "link:down")),
    ):
        told = readings(later, source.table, metric)
        assert {labels for labels, count in told.items() if count} == {expected}


def test_an_adapters_page_tells_of_ualink_ports_under_the_topologys_names(
    fabric: Fabric, tmp_path: Path
) -> None:
    page = tmp_path / "page.prom"
    page.write_text(ualink.page(fabric, "host-001"))
    target = Target("host-001", "prom", "", "", {}, TOPOLOGY)
    source = Prom(PromSettings(), target, SeriesTable())
    poll = source.captured([page], AT)
    replays = readings(poll, source.table, REPLAYS)
    ill = fabric.ports["host-001-1/nvlink/2"]  # the third link is the first port of station 1
    assert replays["host-001-1", "ualink/1/0"] == int(ill.replays) > 0
    assert set(readings(poll, source.table, UP).values()) == {1.0}
    assert not poll.refused
