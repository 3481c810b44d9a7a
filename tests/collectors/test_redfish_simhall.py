"""BMCs that somebody else emulates (simhall, PyPI), read by our collector."""

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import suppress

import aiohttp
import pytest

from collectors.source import Target
from collectors.sources.redfish import Redfish, RedfishSettings
from fabrichealth.catalogue.cooling import COOLANT_TEMPERATURE, LEAK
from fabrichealth.catalogue.devices import DEVICE_TEMPERATURE
from fabrichealth.catalogue.ports import SPEED, UP
from fabrichealth.model import Poll, SeriesTable
from tests.fixtures import readings

AT = 1_800_000_000.0

pytestmark = pytest.mark.skipif(
    shutil.which("simhall") is None, reason="no simhall on the PATH: pip install it, Python 3.12"
)


@pytest.fixture
async def hall() -> AsyncIterator[str]:
    """Serve a hall of compute trays for a while."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    served = await asyncio.create_subprocess_exec(
        "simhall", "serve", "--golden", "hall-b", "--port", str(port),
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        async with asyncio.timeout(30), aiohttp.ClientSession() as session:
            while True:
                with suppress(aiohttp.ClientError):
                    async with session.get(address):
                        break
                await asyncio.sleep(0.2)
        yield address
    finally:
        with suppress(ProcessLookupError):
            served.terminate()
        await served.wait()


async def tray(address: str, node: str) -> tuple[Poll, SeriesTable]:
    """Return one visit to the BMC of a compute tray."""
    settings = RedfishSettings.model_validate({"ports": True, "spacing": "0", "timeout": "20s"})
    target = Target(node, "redfish", f"{address}/dev/{node}/redfish/v1")
    reader = Redfish(settings, target, SeriesTable())
    try:
        return await reader.read(AT), reader.table
    finally:
        await reader.close()


async def test_its_bmcs_tell_of_temperatures_leaks_and_ports(hall: str) -> None:
    for node in ("node1", "node18"):
        poll, table = await tray(hall, node)
        assert poll.missing == []
        assert poll.refused == []
        temperatures = readings(poll, table, DEVICE_TEMPERATURE)
        assert all(0 < value < 100 for value in temperatures.values())
        assert len(temperatures) >= 4
        coolant = readings(poll, table, COOLANT_TEMPERATURE)
        assert coolant[node, node, "supply"] < coolant[node, node, "return"]
        assert list(readings(poll, table, LEAK).values()) == [0.0]
        up = readings(poll, table, UP)
        assert len(up) == 16
        assert set(up.values()) == {1.0}
        assert set(readings(poll, table, SPEED).values()) == {400e9}


async def test_a_link_that_it_degrades_is_seen(hall: str) -> None:
    fault = {"kind": "link_degraded", "cable": "CBL-12-01-00", "speed_gbps": 200}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{hall}/sim/faults", json=fault) as reply,
    ):
        assert reply.status < 300
    poll, table = await tray(hall, "node1")
    speeds = readings(poll, table, SPEED)
    assert sorted(speeds.values())[:2] == [200e9, 400e9]
