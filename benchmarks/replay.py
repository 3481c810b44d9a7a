"""Replaying a day of a fabric, cold, from its gzipped history.

`python -m benchmarks.replay [--series 20000 --polls 2880 --period 30]`: ports with twelve series
each, well but for a few; the history is written first, then `fabrichealth replay` is run on it as a
process of its own. Beside it, on the same file, what it takes only to unpack and parse the lines
(orjson), so that the rest is ours. Seconds are of CPU; the replay uses one core.
"""

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson
import yaml

from fabrichealth.catalogue import ports
from fabrichealth.metric import Metric

START = 1_800_000_000
SERIES_A_PORT = 12
RADIX = 32
STEADY: dict[Metric, float] = {
    ports.UP: 1.0, ports.ADMIN_UP: 1.0, ports.SPEED: 400e9, ports.LANES: 4.0,
    ports.LINK_DOWNS: 2.0, ports.SYMBOL_ERRORS: 7.0, ports.LINK_RECOVERIES: 0.0,
    ports.REPLAYS: 12.0, ports.RX_CRC_ERRORS: 1.0, ports.FEC_UNCORRECTABLE_CODEWORDS: 0.0,
}  # fmt: skip
BUSY = (ports.RX_BYTES, ports.TX_BYTES)


def main() -> None:
    """Write a history, replay it, print the figures."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--series", type=int, default=20_000)
    asked.add_argument("--polls", type=int, default=2880)
    asked.add_argument("--period", type=float, default=30.0)
    given = asked.parse_args()
    links = given.series // SERIES_A_PORT // 2
    with tempfile.TemporaryDirectory() as folder:
        history, topology = Path(folder) / "history.jsonl.gz", Path(folder) / "topology.yaml"
        topology.write_text(yaml.safe_dump(_topology(links)))
        began = time.perf_counter()
        samples = _write(history, links, given.polls, given.period)
        megabytes = history.stat().st_size / 2**20
        print(f"{samples:,} samples, {megabytes:.0f} MiB, {time.perf_counter() - began:.0f} s")
        parsing = _parsing(history)
        took, peak, said = _replayed(history, topology)
        print(f"parsed alone (gzip, orjson)  {parsing:7.1f} s")
        print(f"fabrichealth replay          {took:7.1f} s   {took / parsing:.1f} times   ", end="")
        print(f"{peak / 2**20:.0f} MiB at most   {said} incidents")


def _topology(links: int) -> dict[str, list[dict[str, str | int]]]:
    hosts: list[dict[str, str | int]] = [
        {"name": f"host-{n:04d}", "role": "host"} for n in range(links)
    ]
    leaves: list[dict[str, str | int]] = [
        {"name": f"leaf-{n:03d}", "role": "switch"} for n in range(-(-links // RADIX))
    ]
    cables: list[dict[str, str | int]] = [
        {"a": f"host-{n:04d}/eth0", "b": f"leaf-{n // RADIX:03d}/{n % RADIX}",
         "technology": "ib", "speed_gbps": 400, "lanes": 4}
        for n in range(links)
    ]  # fmt: skip
    return {"devices": [*hosts, *leaves], "links": cables}


def _write(path: Path, links: int, polls: int, period: float) -> int:
    """Write the history; one link in a thousand loses data from half the time on."""
    chance = np.random.default_rng(1)
    samples = 0
    with gzip.open(path, "wb", 1) as handle:
        for cable in _topology(links)["links"]:
            for end in (str(cable["a"]), str(cable["b"])):
                for line, count in _port(end, polls, period, chance):
                    handle.write(line)
                    samples += count
    return samples


def _port(
    end: str, polls: int, period: float, chance: np.random.Generator
) -> Iterator[tuple[bytes, int]]:
    device, _, port = end.partition("/")
    phase = chance.uniform(0, period)
    at = ((START + phase + np.arange(polls) * period) * 1000).astype(np.int64)
    ill = chance.random() < 0.001
    for metric in (*STEADY, *BUSY):
        if metric in BUSY:
            values = np.cumsum(chance.integers(10**11, 10**12, polls)).astype(np.float64)
        else:
            values = np.full(polls, STEADY[metric])
            if ill and metric is ports.SYMBOL_ERRORS:
                values[polls // 2 :] += np.cumsum(chance.poisson(2.0, polls - polls // 2))
        yield (
            orjson.dumps(
                {
                    "metric": {"__name__": str(metric), "device": device, "port": port},
                    "values": values,
                    "timestamps": at,
                },
                option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE,
            ),
            polls,
        )


def _parsing(path: Path) -> float:
    began = time.process_time()
    with gzip.open(path, "rb") as handle:
        for line in handle:
            orjson.loads(line)
    return time.process_time() - began


def _replayed(history: Path, topology: Path) -> tuple[float, int, int]:
    """Return seconds of CPU, peak memory in bytes, and how many incidents were told."""
    words = [sys.executable, "-m", "fabrichealth", "replay", str(history)]
    with subprocess.Popen(
        [*words, "--topology", str(topology), "--json"], stdout=subprocess.PIPE
    ) as child:
        said = child.stdout.read() if child.stdout else b""
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    took = usage.ru_utime + usage.ru_stime
    if child.returncode:
        raise SystemExit(f"replay ended with status {child.returncode}")
    return took, usage.ru_maxrss * 1024, said.count(b"\n")


if __name__ == "__main__":
    main()
