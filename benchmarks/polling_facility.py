"""What a hall's cooling units and PDUs cost to poll: CPU of one process, and how late readings are.

Another process serves CDUs over Modbus TCP and PDUs over SNMP, each at a port of its own; one of
each takes the question and never answers. All are followed by the poller, as a daemon would. First
contact, when every PDU is walked, is told apart from the rounds after it. Goal: 200 CDUs and 2,000
PDUs in 10 s by one process on one core, and no reading late for the hung ones. CPU seconds hold on
a busy machine too; lateness does not.

    python -m benchmarks.polling_facility [--cdus 200] [--pdus 2000] [--rounds 3] [--period 10]
        [--first 120]
"""

import argparse
import asyncio
import json
import logging
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from collectors.inventory import Inventory
from collectors.poller import Poller
from collectors.source import Source, Target
from collectors.sources.modbus import Modbus, ModbusSettings
from collectors.sources.snmp import Snmp, SnmpSettings
from emulator.modbus import ModbusServer, ModbusUnits
from emulator.modbus_cdu import CoolantUnit
from emulator.snmp import Mib, SnmpAgent
from emulator.snmp_pdu import WELL, Phase, RackPdu
from fabrichealth.events import Event
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.runtime.clock import Clock
from fabrichealth.topology import Topology

OUTLETS = 24
FIRST_CONTACT = 120.0
"""Seconds by which every target must have been read once; a busy machine needs more."""
HUNG = "hung"


async def _serve(cdus: int, pdus: int) -> None:
    """Serve until killed; the first line of stdout says where."""
    cells = CoolantUnit().cells()
    places: dict[str, list[str]] = {"modbus": [], "snmp": []}
    for number in range(cdus + 1):
        units = ModbusUnits(lambda _: cells, silent={1} if number == cdus else set())
        server = ModbusServer(units)
        await server.start()
        places["modbus"].append(server.address)
    for number in range(pdus + 1):
        pdu = RackPdu(f"pdu-{number}", [Phase(amperes=8.0 + n) for n in range(3)],
                      [200.0 + n for n in range(OUTLETS)], probe=WELL)  # fmt: skip
        community = b"other" if number == pdus else b"public"  # a stranger is not answered
        agent = SnmpAgent(partial(_same, pdu.mib()), community)
        await agent.start()
        places["snmp"].append(agent.address)
    print(json.dumps(places), flush=True)
    await asyncio.Event().wait()


def _same(mib: Mib) -> Mib:
    return mib


def _sources(places: dict[str, list[str]], table: SeriesTable, period: float) -> list[Source]:
    topology = Topology()

    def target(source: str, number: int, address: str) -> Target:
        name = HUNG if number == len(places[source]) - 1 else str(number)
        options = {"mapping": "cdu_generic"} if source == "modbus" else {}
        return Target(f"{source}-{name}", source, address, "", options, topology)

    units = ModbusSettings(period=period)
    agents = SnmpSettings(period=period, timeout=min(15.0, period), tries=1)
    return [
        *(Modbus(units, target("modbus", n, a), table) for n, a in enumerate(places["modbus"])),
        *(Snmp(agents, target("snmp", n, a), table) for n, a in enumerate(places["snmp"])),
    ]


@dataclass
class _Arrivals:
    """When readings of each target came, and how many."""

    clock: Clock
    times: dict[int, list[float]]
    unread: set[int]
    everybody: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when each target was read once."""
    readings: int = 0

    def take(self, batches: list[Batch], _: list[Event]) -> None:
        """Note what one visit brought."""
        for batch in batches:
            if batch.clock in self.times:
                self.times[batch.clock].append(self.clock.now())
                self.readings += len(batch.series)
                self.unread.discard(batch.clock)
        if not self.unread:
            self.everybody.set()


async def _polled(places: dict[str, list[str]], period: float, rounds: int, first: float) -> None:
    clock, table = Clock(), SeriesTable()
    sources = _sources(places, table, period)
    good = [source for source in sources if not source.target.name.endswith(HUNG)]
    seen = _Arrivals(
        clock, {source.clock: [] for source in good}, {source.clock for source in good}
    )
    poller = Poller(table, clock, Inventory(table, Topology()), seen.take)
    began = time.process_time()
    await poller.follow(sources)
    try:
        async with asyncio.timeout(first):
            await seen.everybody.wait()
    except TimeoutError:
        print(f"  {len(seen.unread)} targets were not read within {first:g} s")
    print(
        f"  first contact: {time.process_time() - began:.1f} CPU s, {len(table)} series of "
        f"{len(good)} targets"
    )
    await asyncio.sleep(period)  # what is late of first contact ends
    for times in seen.times.values():
        times.clear()
    seen.readings, began, start = 0, time.process_time(), clock.now()
    await asyncio.sleep(rounds * period)
    spent, lasted = time.process_time() - began, clock.now() - start
    await poller.stop()
    gaps = np.concatenate([np.diff(times) for times in seen.times.values() if len(times) > 1])
    visits = sum(map(len, seen.times.values()))
    print(
        f"  {visits} visits and {seen.readings} readings in {lasted:.1f} s: {spent:.2f} CPU s, "
        f"{100 * spent / lasted:.0f} % of a core, {1e3 * spent / max(visits, 1):.2f} ms a visit"
    )
    late = gaps - period
    print(
        f"  beside the two that hang others came late by median {1e3 * np.median(late):.0f} ms, "
        f"p99 {1e3 * np.quantile(late, 0.99):.0f} ms, worst {1e3 * late.max():.0f} ms; "
        f"{sum(len(times) < rounds - 1 for times in seen.times.values())} missed a visit"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cdus", type=int, default=200)
    parser.add_argument("--pdus", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3, choices=range(3, 1000), metavar="N")
    parser.add_argument("--period", type=float, default=10.0)
    parser.add_argument("--first", type=float, default=FIRST_CONTACT, help="until all were read, s")
    parser.add_argument("--serve", action="store_true")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)  # two targets that do not answer are the point here
    if asked.serve:
        asyncio.run(_serve(asked.cdus, asked.pdus))
        return
    words = [sys.executable, "-m", "benchmarks.polling_facility", "--serve"]
    words += ["--cdus", str(asked.cdus), "--pdus", str(asked.pdus)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        places = json.loads(server.stdout.readline())
        print(
            f"{asked.cdus} CDUs and {asked.pdus} PDUs of {OUTLETS} outlets each "
            f"{asked.period:g} s, one more of each hangs; {os.cpu_count()} cores, load "
            f"{os.getloadavg()[0]:.1f}"
        )
        try:
            asyncio.run(_polled(places, asked.period, asked.rounds, asked.first))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
