"""The host source on the running kernel, where it may be asked."""

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from collectors.source import Target
from collectors.sources.host import Host, HostSettings
from collectors.transports.ethtool import Kernel
from fabrichealth.catalogue.devices import BOOT_TIME
from fabrichealth.catalogue.ports import ADMIN_UP, LINK_DOWNS, RX_PACKETS, SPEED, UP
from fabrichealth.model import Reason, SeriesTable
from tests.fixtures import readings

ONE, OTHER = f"fh{os.getpid()}a", f"fh{os.getpid()}b"

pytestmark = pytest.mark.skipif(
    not Path("/sys/class/net/lo").exists(), reason="no Linux network devices here"
)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def veth() -> Iterator[str]:
    """A pair of virtual Ethernet interfaces, up."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("making a veth pair needs root and iproute2")
    try:
        ip("link", "add", ONE, "type", "veth", "peer", "name", OTHER)
    except subprocess.CalledProcessError as wrong:
        pytest.skip(f"the kernel makes no veth pair: {wrong.stderr.decode().strip()}")
    try:
        ip("link", "set", ONE, "up")
        ip("link", "set", OTHER, "up")
        yield ONE
    finally:
        ip("link", "del", ONE)


def test_loopback_has_no_driver_to_ask() -> None:
    with closing(Kernel()) as kernel, pytest.raises(OSError, match="not supported"):
        kernel.driver("lo")


def test_an_interface_that_is_not_there_is_an_error_with_its_name_in_it() -> None:
    with closing(Kernel()) as kernel:
        for ask in (kernel.driver, kernel.statistics_count, kernel.link_state, kernel.pfc):
            with pytest.raises(OSError, match="No such device"):
                ask("fhnone0")
        with pytest.raises(OSError, match="No such device"):
            kernel.driver("a-name-longer-than-the-kernel-has")


def test_netlink_answers_after_a_refusal() -> None:
    with closing(Kernel()) as kernel:
        for _ in range(3):
            with pytest.raises(OSError, match="not supported"):
                kernel.fec("lo")
            assert kernel.link_state("lo").up is not None


def test_a_veth_pair_tells_driver_statistics_and_speed(veth: str) -> None:
    with closing(Kernel()) as kernel:
        assert kernel.driver(veth).name == "veth"
        count = kernel.statistics_count(veth)
        names = kernel.statistics_names(veth, count)
        assert len(names) == len(kernel.statistics(veth, count)) == count
        assert "peer_ifindex" in names
        assert kernel.link_modes(veth).speed == 1e10
        with pytest.raises(OSError, match="not supported"):
            kernel.module_page(veth, 0, upper=False)


async def test_the_live_host_is_read(veth: str) -> None:
    table = SeriesTable()
    settings = HostSettings(virtual_interfaces="always")
    source = Host(settings, Target("host-001", "host"), table)
    try:
        first = await source.read(time.time())
        second = await source.read(time.time())
        here = ("host-001", veth)
        assert readings(second, table, UP)[here] == 1.0
        assert readings(second, table, ADMIN_UP)[here] == 1.0
        assert readings(second, table, SPEED)[here] == 1e10
        assert readings(second, table, RX_PACKETS)[here] >= 0.0
        assert readings(second, table, LINK_DOWNS)[here] >= 0.0
        (booted,) = readings(second, table, BOOT_TIME).values()
        assert 0.0 < booted < time.time()
        said = {one.what: one.reason for one in first.refused if one.labels.get("port") == veth}
        assert said["fec"] == said["module"] == Reason.UNSUPPORTED
        assert not [one for one in second.refused if one.labels.get("port") == veth]
        ip("link", "set", OTHER, "down")
        for _ in range(50):
            third = await source.read(time.time())
            if readings(third, table, UP)[here] == 0.0:
                break
            await asyncio.sleep(0.02)
        assert readings(third, table, UP)[here] == 0.0
        assert here not in readings(third, table, SPEED)
    finally:
        await source.close()
