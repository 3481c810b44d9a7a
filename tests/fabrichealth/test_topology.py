"""Topology: what is written is found again, what cannot be so is named with its line."""

import logging
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabrichealth.errors import SiteError
from fabrichealth.model import Place, Port, link_id
from fabrichealth.topology import Device, Link, Topology, read

WHOLE = """\
domains: [{name: pod-a, kind: ub, accelerators: 2}]
racks:   [{name: r01, domain: pod-a, loop: cdu-1}, {name: r02}]
devices:
  - {name: host-001, role: host, rack: r01}
  - {name: host-002, role: host, rack: r01}
  - {name: host-001-0, role: accelerator, host: host-001, ids: [GPU-1, "0000:17:00.0"]}
  - {name: host-002-0, role: accelerator, host: host-002, ids: [GPU-2, "0000:17:00.0"]}
  - name: leaf-01
    role: switch
    rack: r02
    ids: ["0x1070fd0300b1e462", "aa:bb:cc:dd:ee:ff", "leaf-01.example"]
    ports: {Ethernet0: {alias: etp1, uid: "0xAB1"}, 1: {uid: "0x02"}}
links:
  - a: leaf-01/Ethernet0
    b: host-001/mlx5_3/1
    module_a: {vendor: V, lot: 0012, serial: 1e5, firmware: 1.10}
    module_b: {lot: 2024-07-01, serial: no, part: 0x10}
    plr: yes
  - {a: host-001-0/nvlink/0, b: host-002-0/nvlink/0, technology: nvlink}
loops: [{name: cdu-1, fluid: pg25}]
feeds: [{name: r01-A, rack: r01, meter: {device: pdu-7, inlet: 1}}]
"""


def written(folder: Path, text: str) -> Topology:
    """Return the topology of a file of this text."""
    (folder / "topology.yaml").write_text(text)
    return read(folder / "topology.yaml")


def refusal(folder: Path, text: str) -> str:
    """Return what is wrong, without the folder: one line that begins with file and line."""
    with pytest.raises(SiteError) as wrong:
        written(folder, text)
    told = str(wrong.value)
    assert "\n" not in told
    return told.removeprefix(f"{folder}/")


@pytest.fixture
def topology(tmp_path: Path) -> Topology:
    return written(tmp_path, WHOLE)


def test_a_port_faces_the_port_at_the_other_end(topology: Topology) -> None:
    near, far = Port("leaf-01", "Ethernet0"), Port("host-001", "mlx5_3/1")
    assert (topology.peer(near), topology.peer(far)) == (far, near)
    assert topology.peer(Port("leaf-01", "Ethernet4")) is None
    assert "host-001/mlx5_3/1--leaf-01/Ethernet0" in topology.links


def test_what_is_text_stays_as_it_was_written(topology: Topology) -> None:
    link = topology.links["host-001/mlx5_3/1--leaf-01/Ethernet0"]
    assert link.module_a is not None
    assert link.module_b is not None
    assert (link.module_a.lot, link.module_a.serial, link.module_a.firmware) == (
        "0012",
        "1e5",
        "1.10",
    )
    assert (link.module_b.lot, link.module_b.serial, link.module_b.part) == (
        "2024-07-01",
        "no",
        "0x10",
    )
    assert link.plr is True
    assert topology.feeds["r01-A"].meter == {"device": "pdu-7", "inlet": "1"}


@pytest.mark.parametrize(
    ("alias", "host", "device"),
    [
        ("0x1070FD0300B1E462", "", "leaf-01"),
        ("AA:BB:CC:DD:EE:FF", "", "leaf-01"),
        ("leaf-01.EXAMPLE", "", "leaf-01"),
        ("leaf-01", "", "leaf-01"),
        ("gpu-2", "", "host-002-0"),
        ("0000:17:00.0", "host-001", "host-001-0"),
        ("00000000:17:00.0", "host-002", "host-002-0"),
        ("17:00.0", "host-002", "host-002-0"),
        ("0000:17:00.0", "", None),
        ("0001:17:00.0", "host-001", None),
        ("0000:17:00.0", "host-003", None),
        ("leaf-02", "", None),
        ("", "", None),
    ],
)
def test_a_device_goes_by_its_names_and_pci_addresses_within_its_host(
    topology: Topology, alias: str, host: str, device: str | None
) -> None:
    assert topology.named(alias, host) == device


def test_a_port_is_found_by_its_uid(topology: Topology) -> None:
    assert topology.port_with_uid("leaf-01", "0xab1") == "Ethernet0"
    assert topology.port_with_uid("leaf-01", "0x02") == "1"
    assert topology.port_with_uid("host-001", "0xab1") is None


def test_what_a_host_holds_stands_where_the_host_stands(topology: Topology) -> None:
    assert topology.hosted["host-001"] == ["host-001-0"]
    assert topology.rack_of("host-001-0") == "r01"
    assert topology.domain_of("host-001-0") == "pod-a"
    assert topology.domain_of("leaf-01") == ""
    assert topology.in_rack["r01"] == ["host-001", "host-002", "host-001-0", "host-002-0"]
    assert (topology.rack_of("stranger"), topology.domain_of("stranger")) == ("", "")


@pytest.mark.parametrize(
    ("place", "devices"),
    [
        (Place("link", "host-001/mlx5_3/1--leaf-01/Ethernet0"), {"leaf-01", "host-001"}),
        (Place("link", "x/1--y/2"), {"x", "y"}),
        (Place("port", "host-001/mlx5_3/1"), {"host-001"}),
        (Place("rack", "r02"), {"leaf-01"}),
        (Place("rack", "r03"), set()),
        (Place("device", "leaf-01"), {"leaf-01"}),
    ],
)
def test_a_place_belongs_to_its_devices(
    topology: Topology, place: Place, devices: set[str]
) -> None:
    assert set(topology.devices_of(place)) == devices


def test_module_a_belongs_to_end_a_whatever_the_order() -> None:
    link = Link.model_validate({"a": "z/1", "b": "a/1", "module_a": {"serial": "Z"}})
    assert link.id == "a/1--z/1"
    assert link.ends[0] == Port("z", "1")


LEAF = "devices: [{name: a, role: switch}, {name: b, role: host}]\n"

WRONG: dict[str, tuple[str, str, str]] = {
    "a word": ("leaf-01\n", "topology.yaml:1", "mapping"),
    "device twice": (
        "devices:\n  - {name: a, role: host}\n  - {name: a, role: host}\n",
        "topology.yaml:3: devices.1",
        "listed twice",
    ),
    "rack twice": ("racks: [{name: r}, {name: r}]\n", "topology.yaml:1: racks.1", "listed twice"),
    "name with a slash": (
        "devices:\n  - name: a/b\n    role: host\n",
        "topology.yaml:2: devices.0.name",
        "write _",
    ),
    "name like a link": (
        "devices: [{name: a--b, role: host}]\n",
        "topology.yaml:1: devices.0.name",
        "--",
    ),
    "name of nothing": (
        'devices: [{name: "", role: host}]\n',
        "topology.yaml:1: devices.0.name",
        "is not empty",
    ),
    "rack like a link": ("racks: [{name: a--b}]\n", "topology.yaml:1: racks.0.name", "--"),
    "no role": ("devices: [{name: a}]\n", "topology.yaml:1: devices.0.role", "is missing"),
    "role of none": (
        "devices: [{name: a, role: router}]\n",
        "topology.yaml:1: devices.0.role",
        "nic",
    ),
    "unknown host": (
        "devices: [{name: a, role: accelerator, host: h}]\n",
        "topology.yaml:1: devices.0",
        "host h is not among the devices",
    ),
    "unknown rack": (
        "racks: [{name: r}]\ndevices: [{name: a, role: host, rack: s}]\n",
        "topology.yaml:2: devices.0",
        "rack s is not among the racks",
    ),
    "unknown domain": (
        "domains: [{name: d}]\nracks: [{name: r, domain: e}]\n",
        "topology.yaml:2: racks.0",
        "domain e is not among the domains",
    ),
    "unknown loop": (
        "loops: [{name: l}]\nracks: [{name: r, loop: m}]\n",
        "topology.yaml:2: racks.0",
        "loop m is not among the loops",
    ),
    "feed of an unknown rack": (
        "racks: [{name: r}]\nfeeds: [{name: f, rack: s}]\n",
        "topology.yaml:2: feeds.0",
        "rack s is not among the racks",
    ),
    "half a link": (f"{LEAF}links:\n  - a: a/1\n", "topology.yaml:3: links.0.b", "is missing"),
    "link to nowhere": (
        f'{LEAF}links:\n  - {{a: a/1, b: ""}}\n',
        "topology.yaml:3: links.0",
        "write device/port",
    ),
    "link to a device": (
        f"{LEAF}links: [{{a: a/1, b: b}}]\n",
        "topology.yaml:2: links.0",
        "b: 'b' is not a port",
    ),
    "link to a stranger": (
        f"{LEAF}links: [{{a: a/1, b: c/1}}]\n",
        "topology.yaml:2: links.0",
        "b: device c is not among the devices",
    ),
    "port twice": (
        f"{LEAF}links:\n  - {{a: a/1, b: b/1}}\n  - {{a: b/2, b: a/1}}\n",
        "topology.yaml:4: links.1",
        "b: port a/1 has a second cable, to b/1",
    ),
    "port to itself": (
        f"{LEAF}links: [{{a: a/1, b: a/1}}]\n",
        "topology.yaml:2: links.0",
        "second cable",
    ),
    "port like a link": (
        f"{LEAF}links: [{{a: a/1--2, b: b/1}}]\n",
        "topology.yaml:2: links.0",
        "a: a/1--2: a name holds no `--`",
    ),
    "technology of none": (
        f"{LEAF}links: [{{a: a/1, b: b/1, technology: token-ring}}]\n",
        "topology.yaml:2: links.0.technology",
        "roce",
    ),
    "speed of nothing": (
        f"{LEAF}links: [{{a: a/1, b: b/1, speed_gbps: 0}}]\n",
        "topology.yaml:2: links.0.speed_gbps",
        "greater than 0",
    ),
    "id of two devices": (
        "devices:\n  - {name: a, role: nic, ids: [X]}\n  - {name: b, role: nic, ids: [x]}\n",
        "topology.yaml:3: devices.1",
        "id x is a's already",
    ),
    "id that is another's name": (
        "devices:\n  - {name: a, role: nic}\n  - {name: b, role: nic, ids: [A]}\n",
        "topology.yaml:3: devices.1",
        "id A is a's already",
    ),
    "PCI address twice in a host": (
        "devices: [{name: h, role: host}, {name: a, role: nic, host: h, ids: ['0000:17:00.0']},\n"
        "  {name: b, role: nic, host: h, ids: ['17:00.0']}]\n",
        "topology.yaml:2: devices.2",
        "id 17:00.0 is a's already",
    ),
    "CSV that is not there": ("links: cables.csv\n", "cables.csv", "cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "place", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_so_is_named_with_its_place(
    tmp_path: Path, text: str, place: str, words: str
) -> None:
    told = refusal(tmp_path, text)
    assert told.startswith(f"{place}: "), told
    assert words in told, told


def test_keys_of_newer_files_are_skipped_and_counted_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = (
        "planes: 2\ndevices: [{name: a, role: host, color: red}, {name: b, role: nic, color: x}]\n"
    )
    with caplog.at_level(logging.WARNING):
        assert set(written(tmp_path, text).devices) == {"a", "b"}
    (record,) = caplog.records
    assert "devices[].color (2)" in record.getMessage()
    assert "planes (1)" in record.getMessage()


DEVICES_CSV = "\ufeffname,role,host,rack,ids\nleaf-01,switch,,,0xA;leaf-01.example\nh,host,,,\n"
LINKS_CSV = """\
a,b,technology,speed_gbps,module_a.vendor,module_a.lot,module_b.serial,plr,unheard_of
leaf-01/1,h/mlx5_0/1,ib,400,V,0012,S1,true,x

"leaf-01/2","h/mlx5_1/1",,,,,,,
"""


def tables(folder: Path, links: str = LINKS_CSV, devices: str = DEVICES_CSV) -> str:
    """Write both lists beside the file, and return the text that names them."""
    (folder / "devices.csv").write_text(devices, encoding="utf-8", newline="")
    (folder / "links.csv").write_text(links, encoding="utf-8", newline="")
    return "devices: devices.csv\nlinks: links.csv\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lists_may_be_csv_with_dotted_columns(tmp_path: Path, end: str) -> None:
    text = tables(tmp_path, LINKS_CSV.replace("\n", end), DEVICES_CSV.replace("\n", end))
    topology = written(tmp_path, text)
    assert topology.named("LEAF-01.example") == "leaf-01"
    first, second = topology.links.values()
    assert (first.technology, first.speed_gbps, first.plr) == ("ib", 400, True)
    assert first.module_a is not None
    assert first.module_b is not None
    assert (first.module_a.vendor, first.module_a.lot) == ("V", "0012")
    assert first.module_b.serial == "S1"
    assert (second.technology, second.speed_gbps, second.module_a) == ("roce", None, None)


@pytest.mark.parametrize(
    ("links", "place", "words"),
    [
        ("a,b\nleaf-01/1,h/1,x\n", "links.csv:2", "more fields"),
        ("a,b\nleaf-01/1\n", "links.csv:2", "is missing"),
        ("a,b\nleaf-01/1,h/1\nleaf-01/1,h/2\n", "links.csv:3", "second cable"),
        ("a,b,speed_gbps\nleaf-01/1,h/1,fast\n", "links.csv:2", "speed_gbps"),
        ("a,b,a\nleaf-01/1,h/1,h/2\n", "links.csv:1", "column a is there twice"),
        ("a,b,module_a,module_a.lot\nleaf-01/1,h/1,x,y\n", "links.csv:1", "module_a cannot stand"),
        ('a,b\nleaf-01/1,"h/1\n', "links.csv:", "not CSV"),
        ("a,b\nleaf-01/1,nobody/1\n", "links.csv:2", "nobody is not among"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_with_its_line(
    tmp_path: Path, links: str, place: str, words: str
) -> None:
    told = refusal(tmp_path, tables(tmp_path, links))
    assert told.startswith(place), told
    assert words in told, told


def test_csv_that_is_no_text_is_named(tmp_path: Path) -> None:
    text = tables(tmp_path)
    (tmp_path / "links.csv").write_bytes(b"a,b\n\xff\xfe,x\n")
    assert "links.csv: not UTF-8" in refusal(tmp_path, text)


def test_an_empty_list_is_an_empty_list(tmp_path: Path) -> None:
    assert written(tmp_path, tables(tmp_path, links="")).links == {}
    assert written(tmp_path, "{}\n").devices == {}


NAMES = st.text(st.sampled_from("abcAB01_.:-/ "), min_size=1, max_size=8)


@given(one=NAMES, port=NAMES, other=NAMES)
def test_a_port_is_split_at_its_first_slash(one: str, port: str, other: str) -> None:
    if "/" in one:
        return
    parsed = Port.parse(f"{one}/{port}")
    assert (parsed.device, parsed.port) == (one, port)
    assert link_id(parsed, f"{other}/1") == link_id(f"{other}/1", str(parsed))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    plain=st.dictionaries(
        st.sampled_from(["devices", "links", "racks", "domains", "loops", "feeds", "routing"]),
        st.lists(
            st.dictionaries(
                st.sampled_from(["name", "role", "a", "b", "ids", "ports", "rack", "module_a"]),
                st.none() | st.integers() | NAMES | st.lists(NAMES, max_size=2),
                max_size=4,
            ),
            max_size=3,
        )
        | NAMES,
    )
)
def test_any_file_is_a_topology_or_refused_in_one_line(
    tmp_path: Path, plain: dict[str, Any]
) -> None:
    try:
        written(tmp_path, yaml.safe_dump(plain))
    except SiteError as wrong:
        assert len(str(wrong).splitlines()) == 1  # noqa: PT017 - it may also be taken


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3)), unique=True, max_size=20))
def test_every_link_is_found_from_both_its_ends(ends: list[tuple[int, int]]) -> None:
    ports = [f"d{device}/p{port}" for device, port in ends]
    links = [Link(a=one, b=other) for one, other in zip(ports[::2], ports[1::2], strict=False)]
    devices = {port.partition("/")[0] for port in ports}
    topology = Topology([Device(name=name, role="switch") for name in devices], links)
    for link in links:
        one, other = link.ends
        assert (topology.peer(one), topology.peer(other)) == (other, one)
        for device in {one.device, other.device}:
            assert topology.links_of[device].count(link) == 1
    assert len(topology.link_of) == 2 * len(links)
