"""What reading a host of 8 NICs each second costs: CPU share of one core and memory.

Builds a tree of 8 RoCE NICs (RDMA and interface side), then reads it in a fresh process that has
loaded nothing but the source. Goal: under 80 MiB and 2 % of one core.

    python -m benchmarks.host [--seconds 30] [--nics 8] [--live]
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from emulator.hosttree import HostTree, nics

GOAL_MIB, GOAL_SHARE = 80.0, 0.02


async def _watch(root: str, seconds: float) -> dict[str, float]:
    """Read once a second; return readings of a poll, MiB, CPU share and ms of a poll."""
    from collectors.source import Target  # noqa: PLC0415 - the child alone loads the source
    from collectors.sources.host import Host, HostSettings  # noqa: PLC0415
    from fabrichealth.model import SeriesTable  # noqa: PLC0415

    options = {"root": root} if root else {}
    source = Host(HostSettings(), Target("host-001", "host", options=options), SeriesTable())
    first = await source.read(time.time())
    started, spent, polls = time.monotonic(), time.process_time(), 0
    while time.monotonic() - started < seconds:
        await source.read(time.time())
        polls += 1
        await asyncio.sleep(max(0.0, started + polls - time.monotonic()))
    cpu = time.process_time() - spent
    await source.close()
    return {
        "readings": first.readings,
        "polls": polls,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "share": cpu / (time.monotonic() - started),
        "ms_per_poll": 1e3 * cpu / polls,
    }


def main() -> None:
    """Build the tree, watch it in a child, print one line and whether the goal is met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--nics", type=int, default=8)
    parser.add_argument("--live", action="store_true", help="this host instead of a tree")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child is not None:
        print(json.dumps(asyncio.run(_watch(asked.child, asked.seconds))))
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = HostTree(Path(folder), nics(asked.nics, ethernet=True), boot=time.time() - 3600)
        for nic in tree.nics:
            nic.carry(received=10**15, sent=10**15)
        tree.update()
        root = "" if asked.live else folder
        command = [sys.executable, "-m", "benchmarks.host", "--seconds", str(asked.seconds)]
        done = subprocess.run(
            [*command, "--child", root], check=True, capture_output=True, env=os.environ
        )
    found = json.loads(done.stdout)
    met = found["mib"] < GOAL_MIB and found["share"] < GOAL_SHARE
    print(
        f"host: {found['readings']:.0f} readings of {asked.nics} NICs at 1 s: "
        f"{found['mib']:.1f} MiB, {100 * found['share']:.2f} % of a core, "
        f"{found['ms_per_poll']:.2f} ms a poll; goal {'met' if met else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
