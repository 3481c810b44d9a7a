"""Links that nobody wrote down, from the record to /metrics and the API, and over a restart."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from emulator.netbox import NetBox
from fabrichealth.catalogue.ports import LINK_INFO, PORT_INFO
from tests.end_to_end.processes import HOST, answered, fabrichealth, fetched, free_port, until

LINK = "host-7/eth0--leaf-7/Ethernet0"


class Server:
    """Serves an emulated NetBox from a thread of its own until it is stopped."""

    def __init__(self, box: NetBox) -> None:
        self.address = f"http://{HOST}:{free_port()}"
        self._box = box
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._runner = web.AppRunner(box.application())
        self._wait(self._started())

    def stop(self) -> None:
        if self._thread.is_alive():
            self._wait(self._runner.cleanup())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)
            self._loop.close()

    async def _started(self) -> None:
        await self._runner.setup()
        port = int(self.address.rpartition(":")[2])
        await web.TCPSite(self._runner, HOST, port).start()

    def _wait(self, work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)  # type: ignore[arg-type]


@pytest.fixture
def netbox() -> Iterator[Server]:
    box = NetBox()
    box.cable(*LINK.split("--"), kind="dac-passive", length=2)
    server = Server(box)
    yield server
    server.stop()


def test_a_recorded_cable_becomes_a_link_of_the_site(netbox: Server, tmp_path: Path) -> None:
    page = f"{HOST}:{free_port()}"
    site = {
        "state": str(tmp_path / "state"),
        "listen": page,
        "sources": {"netbox": {"period": "1s", "timeout": "1s"}},
        "targets": [{"name": "netbox", "source": "netbox", "address": netbox.address}],
    }
    (tmp_path / "site.yaml").write_text(json.dumps(site))
    first = fabrichealth(tmp_path / "log", "run", "-c", tmp_path / "site.yaml")
    try:
        metrics = until(
            lambda: text if f'{LINK_INFO}{{link="{LINK}"' in (text := fetched(f"http://{page}/metrics"))
            else "",
            "the link on /metrics", 90,
        )  # fmt: skip
        (port,) = (
            line for line in metrics.splitlines()
            if line.startswith(f'{PORT_INFO}{{device="leaf-7"')
        )  # fmt: skip
        assert 'medium="dac"' in port
        assert 'peer_device="host-7"' in port
        assert [row["link"] for row in answered(f"http://{page}/api/v1/links")["data"]] == [LINK]
        assert first.end() == 0
        netbox.stop()  # what was known of links outlives us and the record
        again = fabrichealth(tmp_path / "log", "run", "-c", tmp_path / "site.yaml")
        try:
            links: list[dict[str, object]] = until(
                lambda: (answered(f"http://{page}/api/v1/links") or {"data": []})["data"], LINK
            )
            assert [row["link"] for row in links] == [LINK]
        finally:
            assert again.end() == 0
    finally:
        first.end()
    assert "Traceback" not in first.said
