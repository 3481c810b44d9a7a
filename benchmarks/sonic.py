"""What reading 10,000 SONiC ports costs one collector: seconds of one core in each 10 s period.

Starts real redis-servers on loopback, fills them with switches of 64 ports (all counters, queues,
priority groups, optics), and visits all of them again and again as the poller would. Beside it a
naive client: the same hashes, one HGETALL at a time, decoded to text. All servers hold the same
content at a time; each source has a connection of its own to one of them.

    python -m benchmarks.sonic [--switches 157] [--servers 8] [--rounds 3]
"""

import argparse
import asyncio
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import redis

from collectors.source import Target
from collectors.sources.sonic import Sonic, SonicSettings
from fabrichealth.model import SeriesTable

PORTS, QUEUES, GROUPS, LANES = 64, 8, 8, 8
PERIOD = 10.0
OTHER = 60
"""Counters of a port that nobody asks for (packet sizes and the like)."""

Content = dict[int, dict[str, dict[str, str]]]


def content() -> Content:
    """Return the databases of one switch, by number."""
    counters: dict[str, dict[str, str]] = {
        "COUNTERS_PORT_NAME_MAP": {}, "COUNTERS_QUEUE_NAME_MAP": {}, "COUNTERS_PG_NAME_MAP": {},
    }  # fmt: skip
    appl, state = {}, {}
    for port in range(PORTS):
        name = f"Ethernet{8 * port}"
        oid = f"oid:0x1{port:012x}"
        counters["COUNTERS_PORT_NAME_MAP"][name] = oid
        counters[f"COUNTERS:{oid}"] = _port(port)
        counters[f"RATES:{oid}"] = {"RX_BPS": "2.5e9", "TX_BPS": "2.5e9", "FEC_PRE_BER": "1.1e-9"}
        for number in range(QUEUES):
            queue = f"oid:0x15{port:06x}{number:06x}"
            counters["COUNTERS_QUEUE_NAME_MAP"][f"{name}:{number}"] = queue
            counters[f"COUNTERS:{queue}"] = {
                f"SAI_QUEUE_STAT_{what}": str(10**9 + port * number)
                for what in ("PACKETS", "BYTES", "DROPPED_PACKETS", "DROPPED_BYTES",
                             "CURR_OCCUPANCY_BYTES", "SHARED_WATERMARK_BYTES",
                             "WRED_ECN_MARKED_PACKETS", "WRED_ECN_MARKED_BYTES")
            }  # fmt: skip
        for number in range(GROUPS):
            group = f"oid:0x1a{port:06x}{number:06x}"
            counters["COUNTERS_PG_NAME_MAP"][f"{name}:{number}"] = group
            counters[f"COUNTERS:{group}"] = {
                "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS": "3",
                "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES": "4096",
            }
        appl[f"PORT_TABLE:{name}"] = {
            "alias": f"etp{port}", "lanes": "1,2,3,4", "speed": "400000", "fec": "rs",
            "oper_status": "up", "admin_status": "up",
        }  # fmt: skip
        state[f"TRANSCEIVER_INFO|{name}"] = {"manufacturer": "ACME", "model": "X", "serial": name}
        state[f"TRANSCEIVER_DOM_SENSOR|{name}"] = {
            "temperature": "41.5", "voltage": "3.3",
            **{f"{what}{lane}{kind}": "1.5" for lane in range(1, LANES + 1)
               for what, kind in (("rx", "power"), ("tx", "power"), ("tx", "bias"))},
        }  # fmt: skip
    return {0: appl, 2: counters, 6: state}


def _port(port: int) -> dict[str, str]:
    known = [
        "IF_IN_OCTETS", "IF_OUT_OCTETS", "IF_IN_UCAST_PKTS", "IF_IN_NON_UCAST_PKTS",
        "IF_OUT_UCAST_PKTS", "IF_OUT_NON_UCAST_PKTS", "IF_IN_ERRORS", "IF_IN_DISCARDS",
        "IF_OUT_DISCARDS", "ETHER_STATS_CRC_ALIGN_ERRORS", "PAUSE_RX_PKTS", "PAUSE_TX_PKTS",
        "IF_IN_FEC_CORRECTABLE_FRAMES", "IF_IN_FEC_NOT_CORRECTABLE_FRAMES",
        "IF_IN_FEC_SYMBOL_ERRORS", "IF_IN_FEC_CORRECTED_BITS",
        *(f"IF_IN_FEC_CODEWORD_ERRORS_S{errors}" for errors in range(16)),
        *(f"PFC_{n}_{what}" for n in range(8)
          for what in ("RX_PKTS", "TX_PKTS", "RX_PAUSE_DURATION_US", "TX_PAUSE_DURATION_US")),
        *(f"OTHER_COUNTER_OF_THIS_PORT_{n}" for n in range(OTHER)),
    ]  # fmt: skip
    return {f"SAI_PORT_STAT_{name}": str(10**12 + port * 1000) for name in known}


def _filled(folder: Path, number: int, hashes: Content) -> tuple[Path, "subprocess.Popen[bytes]"]:
    socket = folder / f"{number}.sock"
    process = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "",
         "--appendonly", "no", "--databases", "32"],
        stdout=subprocess.DEVNULL, cwd=folder,
    )  # fmt: skip
    while not socket.exists():
        time.sleep(0.01)
    for database, rows in hashes.items():
        with redis.Redis(unix_socket_path=str(socket), db=database) as client:
            fill = client.pipeline(transaction=False)
            for key, fields in rows.items():
                fill.hset(key, mapping=dict(fields))
            fill.execute()
    return socket, process


def _naive(socket: Path, hashes: Content) -> float:
    """Return the CPU seconds that one HGETALL at a time costs, text decoded, floats by field."""
    began = time.process_time()
    for database, rows in hashes.items():
        with redis.Redis(
            unix_socket_path=str(socket), db=database, decode_responses=True
        ) as client:
            for key in rows:
                found = client.hgetall(key)
                _ = {name: float(text) for name, text in found.items() if text.isdecimal()}
    return time.process_time() - began


async def _round(sources: list[Sonic], at: float) -> tuple[float, float, int]:
    """Visit all; return wall and CPU seconds, and readings."""
    began, spent = time.perf_counter(), time.process_time()
    slots = asyncio.Semaphore(16)

    async def visit(source: Sonic) -> int:
        async with slots:
            poll = await source.read(at)
        assert not poll.refused
        assert not poll.missing
        return poll.readings

    total = sum(await asyncio.gather(*map(visit, sources)))
    return time.perf_counter() - began, time.process_time() - spent, total


async def _bench(sockets: list[Path], switches: int, rounds: int) -> list[tuple[float, float, int]]:
    table = SeriesTable()
    settings = SonicSettings.model_validate({"timeout": "60s"})
    sources = [
        Sonic(
            settings, Target(f"leaf-{n:03}", "sonic", f"unix://{sockets[n % len(sockets)]}"), table
        )
        for n in range(switches)
    ]
    start = time.time()
    found = [await _round(sources, start + PERIOD * number) for number in range(rounds + 1)]
    found.append(await _round(sources, start + 60.0))
    for source in sources:
        await source.close()
    return found


def main() -> None:
    """Fill, visit, and print a line each with the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--switches", type=int, default=157)
    parser.add_argument("--servers", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    hashes = content()
    with tempfile.TemporaryDirectory() as folder:
        servers = [_filled(Path(folder), number, hashes) for number in range(asked.servers)]
        try:
            found = asyncio.run(
                _bench([socket for socket, _ in servers], asked.switches, asked.rounds)
            )
            naive = _naive(servers[0][0], hashes)
        finally:
            for _, process in servers:
                process.terminate()
                process.wait(10)
    first, *steady, optics = found
    wall, spent = (sorted(part)[len(part) // 2] for part in list(zip(*steady, strict=True))[:2])
    ports = asked.switches * PORTS
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    whole = optics[1] / asked.switches
    print(
        f"sonic: {ports} ports, {first[2]} readings at first contact ({first[0]:.1f} s), then "
        f"{steady[0][2]} a poll: {wall:.2f} s wall, {spent:.2f} s of a core per {PERIOD:.0f} s; "
        f"goal {'met' if wall < PERIOD else 'MISSED'}; "
        f"with optics {optics[0]:.2f} s; {memory:.0f} MiB"
    )
    print(
        f"sonic: one switch read whole {1e3 * whole:.1f} ms of CPU; one HGETALL at a time "
        f"{1e3 * naive:.1f} ms: {naive / whole:.1f} times"
    )


if __name__ == "__main__":
    main()
