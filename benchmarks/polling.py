"""How late good targets are visited while 5 % of 1,000 hang: our poller beside two naive loops.

One process serves the pages over HTTP; of the targets one in twenty takes the connection and
never answers. Late is when a reading arrives after it was due. The naive loops read the same
targets with the same source and time-out: one after the other, and all at once with `gather`.
Goal: worst lateness under a tenth of the period.

    python -m benchmarks.polling [--targets 1000] [--seconds 60] [--period 10]
"""

import argparse
import asyncio
import logging
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import numpy as np
from aiohttp import web

from collectors.inventory import Inventory
from collectors.poller import Poller
from collectors.source import Source, Target
from collectors.sources.prom import Prom, PromSettings
from fabrichealth.catalogue.ports import SYMBOL_ERRORS, UP
from fabrichealth.errors import SourceUnavailable
from fabrichealth.events import Event
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.runtime.clock import Clock
from fabrichealth.topology import Topology

HANGING = 20
"""One target in so many never answers."""

TIMEOUT = 3.0
GOAL = 0.1


async def _serve() -> None:
    """Serve pages of ten ports until killed; the first line of stdout is the port."""

    async def page(request: web.Request) -> web.Response:
        number = int(request.match_info["number"])
        if number % HANGING == 0:
            await asyncio.sleep(3600)
        device = f"leaf-{number}"
        rows = [
            f'{metric}{{device="{device}",port="{port}"}} 1'
            for metric in (UP, SYMBOL_ERRORS)
            for port in range(5)
        ]
        return web.Response(text="\n".join(rows) + "\n", content_type="text/plain")

    app = web.Application()
    app.router.add_get("/{number}/metrics", page)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


def _sources(port: int, count: int, period: float) -> tuple[list[Source], SeriesTable]:
    table, topology = SeriesTable(), Topology()
    settings = PromSettings(period=period, timeout=TIMEOUT)
    return [
        Prom(
            settings,
            Target(f"leaf-{n}", "prom", f"http://127.0.0.1:{port}/{n}/metrics", topology=topology),
            table,
        )
        for n in range(count)
    ], table


def _good(number: int) -> bool:
    return number % HANGING != 0


async def _polled(port: int, count: int, period: float, seconds: float) -> np.ndarray:
    """Return how late each reading of a good target came under our poller, in seconds."""
    sources, table = _sources(port, count, period)
    arrived: dict[int, list[float]] = {
        source.clock: [] for number, source in enumerate(sources) if _good(number)
    }
    clock = Clock()

    def take(batches: list[Batch], _: list[Event]) -> None:
        for batch in batches:
            if batch.clock in arrived:
                arrived[batch.clock].append(clock.now())

    poller = Poller(table, clock, Inventory(table, Topology()), take)
    await poller.follow(sources)
    await asyncio.sleep(seconds)
    await poller.stop()
    late = [
        np.array(times) - times[0] - period * np.arange(len(times))
        for times in arrived.values()
        if len(times) > 1
    ]
    missed = sum(len(times) < int(seconds / period) - 1 for times in arrived.values())
    print(f"  poller: {missed} good targets missed a visit")
    return np.concatenate(late)


async def _read(source: Source) -> None:
    try:
        async with asyncio.timeout(TIMEOUT):
            await source.read(time.time())
    except (SourceUnavailable, TimeoutError):
        return


async def _naive(
    port: int,
    count: int,
    period: float,
    seconds: float,
    every: Callable[[list[Callable[[], Awaitable[None]]]], Awaitable[None]],
) -> np.ndarray:
    """Return how late each reading of a good target came under a loop that reads them all."""
    sources, _ = _sources(port, count, period)
    late: list[float] = []
    began, rounds = time.time(), 0

    def visit(number: int, source: Source, due: float) -> Callable[[], Awaitable[None]]:
        async def one() -> None:
            await _read(source)
            if _good(number):
                late.append(time.time() - due)

        return one

    try:
        async with asyncio.timeout(seconds):
            while True:
                due = began + rounds * period
                await asyncio.sleep(max(0.0, due - time.time()))
                await every([visit(n, source, due) for n, source in enumerate(sources)])
                rounds += 1
    except TimeoutError:
        # what was due and has not come is late by at least so much
        done = len(late) % sum(map(_good, range(count)))
        late.extend([time.time() - began - rounds * period] * (done > 0))
    for source in sources:
        await source.close()
    return np.array(late)


async def _in_turn(visits: list[Callable[[], Awaitable[None]]]) -> None:
    for visit in visits:
        await visit()


async def _at_once(visits: list[Callable[[], Awaitable[None]]]) -> None:
    await asyncio.gather(*(visit() for visit in visits))


def _told(name: str, late: np.ndarray) -> float:
    worst = float(late.max())
    print(
        f"  {name:10} {len(late):6} readings, late by median {1e3 * float(np.median(late)):8.1f} ms"
        f", p99 {1e3 * float(np.quantile(late, 0.99)):9.1f} ms, worst {1e3 * worst:9.1f} ms"
    )
    return worst


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--period", type=float, default=10.0)
    parser.add_argument("--serve", action="store_true")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)  # fifty targets that do not answer are the point here
    if asked.serve:
        asyncio.run(_serve())
        return
    words = [sys.executable, "-m", "benchmarks.polling", "--serve"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        what = (port, asked.targets, asked.period, asked.seconds)
        print(
            f"{asked.targets} targets each {asked.period:g} s, one in {HANGING} hangs, time-out "
            f"{TIMEOUT:g} s, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        )
        ours = _told("poller", asyncio.run(_polled(*what)))
        gathered = _told("gather", asyncio.run(_naive(*what, _at_once)))
        in_turn = _told("in turn", asyncio.run(_naive(*what, _in_turn)))
        server.terminate()
    print(
        f"  worst of gather is {gathered / ours:.1f} times ours, one after the other "
        f"{in_turn / ours:.0f} times; goal {GOAL * asked.period:g} s: "
        f"{'met' if ours < GOAL * asked.period else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
