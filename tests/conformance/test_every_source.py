"""What is asked of every source: nothing that a device says may break it or be made up."""

import contextlib
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collectors.intake import Bounds, checked
from collectors.source import Source, SourceSettings, Target
from emulator import openconfig, ufm
from emulator.eapi import EapiSwitch
from emulator.eos import SHOW
from emulator.fabric import Fabric
from emulator.hosttree import HostTree, nics
from emulator.kernlog import KernelLog
from emulator.modbus_cdu import CoolantUnit
from emulator.module_kinds import KINDS
from emulator.modules.image import image
from emulator.netbox import NetBox
from emulator.nvue import NvueSwitch
from emulator.optics import ModuleState
from emulator.pages import dcgm, switch, ualink
from emulator.plan import Plan
from emulator.redfish.equipment import Cdu, Pdu, Shelf, Site
from emulator.redfish.tree import tree as redfish_tree
from emulator.scheduling.kubernetes import ApiServer
from emulator.scheduling.slurm import SlurmController
from emulator.scheduling.workload import Workload
from emulator.snmp import Mib, Variable
from emulator.snmp_pdu import WELL, RackPdu
from emulator.snmp_switch import SnmpSwitch
from emulator.sonic import SonicSwitch
from emulator.tools import collective_tests, hccn_tool, mlxlink, nvidia_smi
from emulator.tools.infiniband import Subnet
from fabrichealth.catalogue import METRICS
from fabrichealth.cli._sample import told
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.plugins import classes, modules
from tests.collectors.openconfig_leaf import LEAF, notified
from tests.collectors.sonic_switch import port_counters
from tests.collectors.sonic_switch import switch as switch_of_sonic

SOURCES = classes("collectors.sources", Source)

AT = 1_767_225_600.0

OPTIONS = {"modbus": {"mapping": "cdu_generic"}}
"""What a target of a source must say, by source."""

every_source = pytest.mark.parametrize("kind", SOURCES.values(), ids=SOURCES)

quickly = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def built(kind: type[Source], address: str = "", **options: str) -> Source:
    """Return a source of a kind with defaults, whose target is a name and perhaps an address."""
    name = kind.__module__.rpartition(".")[2]
    target = Target("target-1", name, address, "", OPTIONS.get(name, {}) | options)
    return kind(kind.settings_type.model_validate({"timeout": "2s"}), target, SeriesTable())


def captured(kind: type[Source], *files: Path) -> Poll | None:
    """Return what captures give, None where they are not of this source; checks what came."""
    source = built(kind)
    try:
        poll = source.captured(list(files), AT)
    except SourceUnavailable:
        return None
    poll = checked(poll, Bounds(source.table), source.table, AT, source.settings.stale_after)
    assert {source.table.metric(n) for n in range(len(source.table))} <= set(kind.metrics)
    assert all(isinstance(one.reason, Reason) for one in poll.refused)
    return poll


@every_source
class TestEverySource:
    def test_gives_metrics_of_the_catalogue(self, kind: type[Source]) -> None:
        assert kind.metrics
        assert set(kind.metrics) <= set(METRICS.values())

    def test_says_in_its_first_line_what_it_reads(self, kind: type[Source]) -> None:
        module = dict(modules("collectors.sources"))[kind.__module__.rpartition(".")[2]]
        for text in (module.__doc__, kind.__doc__):
            assert text
            assert len(text.splitlines()[0]) > 10

    def test_explains_each_setting_to_an_operator(self, kind: type[Source]) -> None:
        assert issubclass(kind.settings_type, SourceSettings)
        assert [name for name, _, words in told(kind.settings_type) if not words] == []

    async def test_is_built_and_let_go_without_a_visit(self, kind: type[Source]) -> None:
        await built(kind).close()

    @quickly
    @given(body=st.binary(max_size=400))
    def test_any_bytes_give_readings_or_a_refusal(
        self, kind: type[Source], tmp_path: Path, body: bytes
    ) -> None:
        file = tmp_path / "capture"
        file.write_bytes(body)
        captured(kind, file)

    @quickly
    @given(text=st.text(st.sampled_from('abAB01.:-+ \t\n"{}[]#=\\,/%()e') | st.characters()))
    def test_any_text_gives_readings_or_a_refusal(
        self, kind: type[Source], tmp_path: Path, text: str
    ) -> None:
        file = tmp_path / "capture.txt"
        file.write_text(text, encoding="utf-8", errors="replace", newline="")
        captured(kind, file)

    @quickly
    @given(
        plain=st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
            lambda one: (
                st.lists(one, max_size=4) | st.dictionaries(st.text(max_size=30), one, max_size=4)
            ),
            max_leaves=12,
        )
    )
    def test_any_json_gives_readings_or_a_refusal(
        self, kind: type[Source], tmp_path: Path, plain: Any
    ) -> None:
        file = tmp_path / "capture.json"
        file.write_text(json.dumps(plain), encoding="utf-8")
        captured(kind, file)

    @pytest.mark.parametrize(
        "make",
        [
            pytest.param(lambda path: path.touch(), id="empty file"),
            pytest.param(lambda path: path.mkdir(), id="empty folder"),
            pytest.param(lambda path: path.write_bytes(b"\0" * 4096), id="zeros"),
            pytest.param(lambda path: path.write_bytes(b"\xff" * 4096), id="ones"),
            pytest.param(lambda path: path.write_text("[" * 100_000), id="deep JSON"),
            pytest.param(lambda path: path.write_text('{"a":' * 50_000), id="deep JSON objects"),
            pytest.param(lambda path: path.write_text("9" * 10_000), id="a number without end"),
            pytest.param(lambda path: path.write_text("a" * 2**20), id="a line without end"),
            pytest.param(lambda path: path.write_text("<html><body>502</body></html>"), id="HTML"),
            pytest.param(lambda path: path.symlink_to(path), id="a link to itself"),
            pytest.param(lambda path: None, id="nothing there"),
        ],
    )
    def test_what_is_no_reply_is_unavailable(
        self, kind: type[Source], tmp_path: Path, make: Callable[[Path], object]
    ) -> None:
        place = tmp_path / "capture"
        make(place)
        poll = captured(kind, place)
        assert poll is None or poll.readings == 0
        if poll is None:
            with pytest.raises(SourceUnavailable, match=r"\A.+\Z"):  # one line
                built(kind).captured([place], AT)

    @quickly
    @given(
        memory=st.dictionaries(
            st.sampled_from(["ports", "wraps", "codes", "last", "counts", "x"]),
            st.recursive(
                st.none() | st.integers() | st.floats() | st.text(max_size=8),
                lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=8), one),
                max_leaves=8,
            ),
        )
    )
    def test_a_spoiled_memory_is_ignored(self, kind: type[Source], memory: dict[str, Any]) -> None:
        source = built(kind)
        source.remember(memory)
        json.dumps(source.memory())

    async def test_a_target_that_refuses_is_unavailable(self, kind: type[Source]) -> None:
        if not kind.schemes:
            pytest.skip("runs on the host and has no address")
        with socket.socket() as taken:  # bound and not listening: every connection is refused
            taken.bind(("127.0.0.1", 0))
            source = built(kind, f"{kind.schemes[0]}://127.0.0.1:{taken.getsockname()[1]}/1")
            with pytest.raises(SourceUnavailable) as wrong:
                await source.read(AT)
            await source.close()
        assert "\n" not in str(wrong.value)
        assert "target-1" in str(wrong.value)


def host_tree(folder: Path) -> list[Path]:
    HostTree(folder, nics(2, ethernet=True), boot=AT - 1e6).update()
    return [folder]


def accelerators(folder: Path) -> list[Path]:
    return _page(folder, dcgm.page(Fabric(Plan(), 1, AT), "host-001"))


def scale_up_adapter(folder: Path) -> list[Path]:
    return _page(folder, ualink.page(_fabric(), "host-001"))


def leaf(folder: Path) -> list[Path]:
    return _page(folder, switch.page(Fabric(Plan(), 1, AT), "leaf-01"))


def _page(folder: Path, text: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    (folder / "page.prom").write_text(text)
    return [folder / "page.prom"]


def rails(folder: Path) -> list[Path]:
    subnet = Subnet(_fabric())
    counters = "".join(map(subnet.perfquery, subnet.nodes))
    return _files(folder, links=subnet.iblinkinfo(), nodes=subnet.ibnetdiscover(), all=counters)


def firmware(folder: Path) -> list[Path]:
    return _files(folder, host=mlxlink.port(_fabric().ports["host-001/mlx5_0/1"]))


def nvlinks(folder: Path) -> list[Path]:
    fabric = _fabric()
    told = nvidia_smi.query, nvidia_smi.links, nvidia_smi.errors
    return _files(folder, **{tell.__name__: tell(fabric, "host-001") for tell in told})


def npu(folder: Path) -> list[Path]:
    told = hccn_tool.answers(_fabric(), "host-001/eth0").items()
    calls = (f"hccn_tool -i 0 {question} -g\n{text}" for question, text in told)
    return _files(folder, host="".join(calls))


def records(folder: Path) -> list[Path]:
    box = NetBox()
    for cable in _fabric().plan.rails_cables:
        box.cable(cable.a, cable.b, kind="smf", length=30)
    return _document(folder, box.page(box.cables, 100, 0))


def telemetry(folder: Path) -> list[Path]:
    return _files(folder, page=ufm.page(_fabric()))


def kernel_log(folder: Path) -> list[Path]:
    fabric = _fabric()
    for one in fabric.hosts["host-001"].accelerators:
        one.xid = 79
    return _files(folder, log="\n".join(KernelLog(fabric, "host-001").lines()))


def sonic_switch(folder: Path) -> list[Path]:
    switch = SonicSwitch(_fabric(), "tor-01")
    return _document(folder, {str(number): switch.database(number) for number in (0, 2, 4, 6)})


def streamed(folder: Path) -> list[Path]:
    return _document(folder, notified(openconfig.values(_fabric(), "tor-02")))


def walked(folder: Path) -> list[Path]:
    plan = Plan(racks=1, hosts_per_rack=2, accelerators=1, rails=1, access=("snmp",))
    fabric = Fabric(plan, 1, AT - 10)
    fabric.advance(AT)
    return _walk(folder, SnmpSwitch(fabric, "tor-01").mib())


def rack_pdu(folder: Path) -> list[Path]:
    return _walk(folder, RackPdu("pdu-1", outlets=[100.0] * 12, probe=WELL).mib())


def _walk(folder: Path, mib: Mib) -> list[Path]:
    lines = [
        f"{'.'.join(map(str, oid))}|{_recorded(variable)}" for oid, variable in sorted(mib.items())
    ]
    return _files(folder, walk="\n".join(lines))


def _recorded(variable: Variable) -> str:
    match variable.value:
        case bytes(octets):
            return f"4x|{octets.hex()}"
        case tuple(numbers):
            return f"6|{'.'.join(map(str, numbers))}"
    return f"{variable.tag}|{variable.value}"


def _fabric() -> Fabric:
    fabric = Fabric(Plan(racks=1, access=("sonic", "gnmi")), 1, AT - 10)
    fabric.advance(AT)
    return fabric


def _files(folder: Path, **texts: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder]


def modules_of_a_switch(folder: Path) -> list[Path]:
    folder.mkdir(exist_ok=True)
    for kind in ("2xfr4", "aec", "cwdm4", "sfp"):
        halves = image(ModuleState("S42", KINDS[kind].lanes, kind=kind))
        pages = {name: half.hex() for name, half in halves.items()}
        lower = {"lower": pages.pop("lower"), "pages": pages} if "lower" in pages else pages
        (folder / f"{kind}.json").write_text(json.dumps(lower))
    return [folder]


def databases(folder: Path) -> list[Path]:
    return _document(folder, switch_of_sonic(4))


def notifications(folder: Path) -> list[Path]:
    return _document(folder, notified(LEAF))


def tables_over_gnmi(folder: Path) -> list[Path]:
    return _document(folder, {"Ethernet0": port_counters()})


def eos_results(folder: Path) -> list[Path]:
    plan = Plan(racks=1, hosts_per_rack=2, accelerators=1, rails=1, access=("eapi",))
    switch_of_eos = EapiSwitch(Fabric(plan, 1, AT), "tor-01")
    return _document(folder, {"jsonrpc": "2.0", **switch_of_eos.outcome(list(SHOW))})


def nvue_bodies(folder: Path) -> list[Path]:
    plan = Plan(racks=1, hosts_per_rack=2, accelerators=1, rails=1, access=("nvue",))
    switch_of_cumulus = NvueSwitch(Fabric(plan, 1, AT), "tor-01")
    _document(folder, switch_of_cumulus.body("interface"))
    for resource in ("counters", "link/phy-detail"):
        file = folder / resource.replace("/", "-") / "swp1.json"
        file.parent.mkdir()
        file.write_text(json.dumps(switch_of_cumulus.body(f"interface/swp1/{resource}")))
    return [folder]


def registers(folder: Path) -> list[Path]:
    cells = CoolantUnit().cells().items()
    rows = (f"{function},{address},{word}" for (function, address), word in cells)
    return _files(folder, dump="\n".join(rows))


def redfish_bodies(folder: Path) -> list[Path]:
    equipment = Site({"1": Cdu()}, {"1": Pdu()}, {"s1": Shelf()}, reported=("Total",))
    return _document(folder, redfish_tree(equipment, "2026-01-01T00:00:00Z", 1))


def queue_of_slurm(folder: Path) -> list[Path]:
    control = SlurmController(_workload())
    return _files(folder, squeue=control.squeue(), nodes=control.nodes())


def lists_of_kubernetes(folder: Path) -> list[Path]:
    lists = ApiServer(_workload()).lists().items()
    return _files(folder, **{what: json.dumps(one) for what, one in lists})


def _workload() -> Workload:
    load = Workload({f"host-{n}": 8 for n in range(4)}, now=AT)
    load.place("one", AT - 60, host_0=tuple(range(8)), host_1=(0, 3))
    load.queue("two", 16, AT - 30)
    return load


def collectives(folder: Path) -> list[Path]:
    sizes = [2**power for power in range(20, 28)]
    return _files(
        folder,
        nccl=collective_tests.perf("all_reduce", 16, sizes, 400e9),
        hccl=collective_tests.hccl("all_gather", 32, sizes, 300e9),
    )


def _document(folder: Path, content: Any) -> list[Path]:
    folder.mkdir(exist_ok=True)
    (folder / "reply.json").write_text(json.dumps(content))
    return [folder / "reply.json"]


EMULATED = {
    "bench": [collectives],
    "eapi": [eos_results],
    "eeprom": [modules_of_a_switch],
    "gnmi": [notifications, tables_over_gnmi, streamed],
    "hccn": [npu],
    "host": [host_tree],
    "ibtools": [rails],
    "kernlog": [kernel_log],
    "mlxlink": [firmware],
    "modbus": [registers],
    "netbox": [records],
    "nvsmi": [nvlinks],
    "nvue": [nvue_bodies],
    "prom": [accelerators, leaf, scale_up_adapter],
    "redfish": [redfish_bodies],
    "scheduler": [queue_of_slurm, lists_of_kubernetes],
    "snmp": [walked, rack_pdu],
    "sonic": [databases, sonic_switch],
    "ufm": [telemetry],
}
"""Replies of emulated devices, by source; one that is emulated is added here."""

REPLIES = [
    pytest.param(SOURCES[name], make, id=f"{name}: {make.__name__}")
    for name, makers in EMULATED.items()
    for make in makers
]


@pytest.mark.parametrize(("kind", "make"), REPLIES)
class TestReplies:
    def test_are_read(
        self, kind: type[Source], make: Callable[[Path], list[Path]], tmp_path: Path
    ) -> None:
        poll = captured(kind, *make(tmp_path / "reply"))
        assert poll is not None
        assert poll.readings > 10

    @settings(quickly, max_examples=25)
    @given(data=st.data())
    def test_spoiled_anywhere_are_read_or_refused(
        self,
        kind: type[Source],
        make: Callable[[Path], list[Path]],
        tmp_path_factory: pytest.TempPathFactory,
        data: st.DataObject,
    ) -> None:
        (place,) = make(tmp_path_factory.mktemp("spoiled") / "reply")
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        files = [file for file in files if file.is_file()]
        for file in data.draw(st.lists(st.sampled_from(files), min_size=1, max_size=3)):
            body = bytearray(file.read_bytes())
            start = data.draw(st.integers(0, len(body)))
            body[start : data.draw(st.integers(start, len(body)))] = data.draw(st.binary())
            with contextlib.suppress(OSError):
                file.write_bytes(body)
        captured(kind, place)

    def test_what_it_remembers_it_takes_up_again(
        self, kind: type[Source], make: Callable[[Path], list[Path]], tmp_path: Path
    ) -> None:
        files = make(tmp_path / "reply")
        source, other = built(kind), built(kind)
        source.captured(files, AT)
        kept = json.loads(json.dumps(source.memory()))
        other.remember(kept)
        other.captured(files, AT)
        assert json.loads(json.dumps(other.memory())) == kept
