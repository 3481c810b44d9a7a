"""What a host hears by LLDP: lldpcli's JSON in both its shapes, and lldpd itself."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols.lldpcli import neighbors
from collectors.source import Target
from collectors.sources.host import Host, HostSettings
from fabrichealth.catalogue.ports import UP
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from fabrichealth.topology import Device, Topology
from fabrichealth.topology.rows import PortFacts
from tests.fixtures import readings

LEAF = Device(
    name="leaf-01",
    role="switch",
    ids=("02:00:5e:00:00:01",),
    ports={"Ethernet0": PortFacts(alias="etp1")},
)


def folded(system: str, port: str, kind: str = "ifname") -> dict[str, Any]:
    """Return what `-f json` says of a neighbour."""
    inside = {"id": {"type": "mac", "value": "02:00:5e:00:00:01"}, "descr": "a switch"}
    chassis = {system: inside} if system else inside
    return {
        "via": "LLDP",
        "chassis": chassis,
        "port": {"id": {"type": kind, "value": port}, "descr": "to a host", "ttl": "120"},
    }


def listed(name: str, system: str, port: str, kind: str = "ifname") -> dict[str, Any]:
    """Return what `-f json0` says of a neighbour."""
    chassis: dict[str, Any] = {"id": [{"type": "mac", "value": "02:00:5e:00:00:01"}]}
    if system:
        chassis["name"] = [{"value": system}]
    port_id = {"id": [{"type": kind, "value": port}], "descr": [{"value": "to a host"}]}
    return {"name": name, "via": "LLDP", "chassis": [chassis], "port": [port_id]}


def read(folder: Path, plain: Any) -> Poll:
    file = folder / "lldp.json"
    file.write_text(json.dumps(plain))
    target = Target("host-001", "host", topology=Topology([LEAF]))
    return Host(HostSettings(), target, SeriesTable()).captured([file], time.time())


ALONE = {"lldp": {"interface": {"eth0": folded("sw-1", "etp1")}}}
SEVERAL = {
    "lldp": {
        "interface": [{"eth0": folded("sw-1", "etp1")}, {"eth1": folded("sw-1", "etp1", "mac")}]
    }
}
LISTED = {"lldp": [{"interface": [listed("eth0", "sw-1", "etp1"), listed("eth1", "", "x")]}]}


@pytest.mark.parametrize(
    ("plain", "ports"),
    [
        pytest.param(ALONE, ["Ethernet0"], id="one neighbour, folded"),
        pytest.param(SEVERAL, ["Ethernet0", ""], id="several, folded; a MAC for a port"),
        pytest.param(LISTED, ["Ethernet0", "x"], id="json0; a chassis without a name"),
        pytest.param({"lldp": {"interface": {"eth0": folded("", "etp1")}}}, ["Ethernet0"],
                     id="no name, folded"),
    ],
)  # fmt: skip
def test_neighbors_go_by_written_names(tmp_path: Path, plain: Any, ports: list[str]) -> None:
    assert read(tmp_path, plain).neighbors == [
        Neighbor("host-001", f"eth{number}", "leaf-01", port, "lldp")
        for number, port in enumerate(ports)
    ]


@pytest.mark.parametrize("plain", [{"lldp": {}}, {"lldp": [{}]}, {"lldp": [{"interface": []}]}])
def test_a_host_that_hears_nobody_is_read(tmp_path: Path, plain: Any) -> None:
    assert read(tmp_path, plain).neighbors == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(
        st.sampled_from(["interface", "chassis", "port", "id", "name", "value", "type", "eth0"]),
        one, max_size=4,
    ),
    max_leaves=14,
)  # fmt: skip


@given(inside=JSON)
def test_any_table_is_read(inside: Any) -> None:
    found = neighbors({"lldp": inside})
    assert found is not None
    assert all(one.interface and (one.system or one.chassis) for one in found.entries)


A, B = f"fh{os.getpid()}n", f"fh{os.getpid()}m"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def lldpd() -> Iterator[Callable[[str], Path]]:
    """Two lldpd, each at its end of a veth pair: one here, one in a network namespace.

    Yields where each listens, by the name of its interface.
    """
    if shutil.which("lldpd") is None or shutil.which("ip") is None:
        pytest.skip("no lldpd and ip; install the packages lldpd and iproute2")
    if os.geteuid() != 0:
        pytest.skip("making a veth pair and a network namespace needs root")
    children: list[subprocess.Popen[bytes]] = []
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)  # lldpd lets go of its rights, and must reach its socket all the same
    Path("/run/lldpd").mkdir(exist_ok=True)  # what it changes its root to; made at boot elsewhere
    try:
        ip("netns", "add", B)
        try:
            ip("link", "add", A, "type", "veth", "peer", "name", B, "netns", B)
        except subprocess.CalledProcessError as wrong:
            pytest.skip(f"the kernel makes no veth pair: {wrong.stderr.decode().strip()}")
        ip("link", "set", A, "up")
        ip("-n", B, "link", "set", B, "up")
        for name, prefix in ((A, []), (B, ["ip", "netns", "exec", B])):
            told = folder / f"{name}.conf"
            told.write_text(
                f"configure system hostname sys-{name}\nconfigure lldp tx-interval 1\n"
                "configure lldp portidsubtype ifname\n"
            )
            words = ["lldpd", "-d", "-u", str(folder / name), "-I", name, "-O", str(told)]
            quiet = subprocess.DEVNULL
            children.append(subprocess.Popen([*prefix, *words], stdout=quiet, stderr=quiet))
        yield lambda name: folder / name
    finally:
        for child in children:
            child.terminate()
        for child in children:
            child.wait(10)
        subprocess.run(["ip", "link", "del", A], check=False, capture_output=True)
        subprocess.run(["ip", "netns", "del", B], check=False, capture_output=True)
        shutil.rmtree(folder)


def heard(socket: Path, form: str) -> str:
    """Wait until lldpd hears its neighbour; return what lldpcli prints then."""
    text = ""
    for _ in range(150):
        said = subprocess.run(
            ["lldpcli", "-u", str(socket), "-f", form, "show", "neighbors"],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        text = said.stdout
        if "sys-" in text:
            return text
        time.sleep(0.1)
    pytest.skip(f"lldpd heard nobody within 15 s: {text[:200]}")


async def test_lldpd_is_heard_from_both_ends(lldpd: Callable[[str], Path], tmp_path: Path) -> None:
    for form in ("json", "json0"):
        poll = read(tmp_path, json.loads(heard(lldpd(B), form)))
        assert poll.neighbors == [Neighbor("host-001", B, f"sys-{A}", A, "lldp")]
    heard(lldpd(A), "json")
    table = SeriesTable()
    settings = HostSettings.model_validate(
        {"virtual_interfaces": "always", "lldp_socket": str(lldpd(A)), "neighbors": "1h"}
    )
    source = Host(settings, Target("host-001", "host"), table)
    try:
        poll = await source.read(time.time())
        assert readings(poll, table, UP)["host-001", A] == 1.0
        assert poll.neighbors == [Neighbor("host-001", A, f"sys-{B}", B, "lldp")]
        assert (await source.read(time.time())).neighbors == []  # not asked again so soon
    finally:
        await source.close()


async def test_an_lldpd_that_does_not_answer_is_said_and_costs_nothing_else(
    tmp_path: Path,
) -> None:
    if shutil.which("lldpcli") is None:
        pytest.skip("no lldpcli; install the package lldpd")
    settings = HostSettings(virtual_interfaces="always", lldp_socket=str(tmp_path / "none"))
    source = Host(settings, Target("host-001", "host"), SeriesTable())
    try:
        first, second = [await source.read(time.time()) for _ in range(2)]
        assert [one.reason for one in first.refused if one.what == "lldpcli"] == [Reason.FAILED]
        assert first.readings > 0
        assert [one for one in second.refused if one.what == "lldpcli"] == []
    finally:
        await source.close()
