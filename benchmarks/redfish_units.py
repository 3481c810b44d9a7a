"""What coolant units with Redfish cost to poll: CPU of one process, one hung unit beside them.

Another process serves CDUs over HTTP (bodies of the emulated service, made once), each below a path
of its own; one takes the question and never answers. First contact, when each service is walked
through, is told apart from the rounds after it. Goal: 200 CDUs in 10 s by one process on one core.
CPU seconds hold on a busy machine too; the time until the last reading does not.

    python -m benchmarks.redfish_units [--cdus 200] [--branches 8] [--rounds 3]
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time

from aiohttp import web

from collectors.source import Target
from collectors.sources.redfish import Redfish, RedfishSettings
from emulator.redfish.equipment import Cdu, Connector, Site
from emulator.redfish.tree import tree
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import SeriesTable

AT = 1_800_000_000.0
HUNG = "hung"
GOAL = 10.0


async def _serve(branches: int) -> None:
    """Serve until killed; the first line of stdout is the port."""
    loops = {str(number): Connector(loop=f"r{number:02d}") for number in range(branches)}
    bodies = tree(Site({"1": Cdu(secondary=loops)}), "2027-01-15T08:00:00Z", 1)
    bodies.pop("/redfish/v1/EventService")  # no stream: visits alone are measured
    plain = {path: json.dumps(body).encode() for path, body in bodies.items()}
    whole = {
        path: json.dumps(
            body | {"Members": [bodies[one["@odata.id"]] for one in body["Members"]]}
        ).encode()
        for path, body in bodies.items()
        if "Members" in body
    }

    async def answer(request: web.Request) -> web.Response:
        if request.match_info["number"] == HUNG:
            await asyncio.sleep(3600)
        path = "/redfish" + request.match_info["rest"].rstrip("/")
        body = (whole if "$expand" in request.query_string else plain).get(path)
        if body is None:
            raise web.HTTPNotFound
        return web.Response(body=body, content_type="application/json")

    app = web.Application()
    app.router.add_get("/{number}/redfish{rest:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


async def _round(sources: list[Redfish], at: float) -> tuple[int, int, float, float]:
    """Visit all at once; return readings, targets without one, CPU and wall seconds of the good."""
    good = {"readings": 0, "silent": 0, "last": 0.0}
    began, used = time.perf_counter(), time.process_time()

    async def one(source: Redfish) -> None:
        try:
            poll = await source.read(at)
        except SourceUnavailable:
            good["silent"] += 1
            return
        good["readings"] += poll.readings
        good["last"] = time.perf_counter() - began

    await asyncio.gather(*(one(source) for source in sources))
    return int(good["readings"]), int(good["silent"]), time.process_time() - used, good["last"]


async def _measure(port: str, cdus: int, rounds: int) -> bool:
    settings = RedfishSettings.model_validate({"timeout": "20s", "answer": "2s", "spacing": "20ms"})
    table = SeriesTable()
    names = [*map(str, range(cdus)), HUNG]
    sources = [
        Redfish(
            settings,
            Target(f"cdu-{name}", "redfish", f"http://127.0.0.1:{port}/{name}/redfish/v1"),
            table,
        )
        for name in names
    ]
    slowest = 0.0
    for number in range(rounds + 1):
        readings, silent, cpu, last = await _round(sources, AT + 30 * number)
        known = len(table)
        slowest = max(slowest, last if number else 0.0)
        print(
            f"{'first contact' if not number else f'round {number}'}: {readings} readings of "
            f"{len(names) - silent} services ({silent} hung) after {last:.1f} s, {cpu:.2f} s of "
            f"CPU ({readings / cpu / 1e3:.0f}k readings a core second), {known} series"
        )
    for source in sources:
        await source.close()
    return slowest < GOAL


def main() -> int:
    """Measure; return 1 if a round took longer than the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cdus", type=int, default=200)
    parser.add_argument("--branches", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        asyncio.run(_serve(asked.branches))
        return 0
    with subprocess.Popen(
        [sys.executable, "-m", __spec__.name, "--serve", "--branches", str(asked.branches)],
        stdout=subprocess.PIPE, text=True,
    ) as served:  # fmt: skip
        try:
            if served.stdout is None:
                return 1
            port = served.stdout.readline().strip()
            done = asyncio.run(_measure(port, asked.cdus, asked.rounds))
        finally:
            served.kill()
    return int(not done)


if __name__ == "__main__":
    sys.exit(main())
