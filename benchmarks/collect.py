"""What the `collect` daemon costs on a host of 8 NICs read every second, and scraped.

The whole command, not the source alone: poller, exporter and HTTP, scraped every 15 s as
Prometheus would. Goal: at most 80 MiB resident and 2 % of one core.

    python -m benchmarks.collect [--seconds 45] [--nics 8]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil
import yaml

from emulator.hosttree import HostTree, nics

GOAL_MIB, GOAL_SHARE = 80.0, 0.02
WARM_UP = 8.0
SCRAPE = 15.0


def main() -> int:
    """Start the daemon on an emulated tree, watch it from outside, print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=45.0)
    parser.add_argument("--nics", type=int, default=8)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        tree = HostTree(base / "root", nics(asked.nics, ethernet=True), boot=time.time() - 3600)
        tree.update()
        site = base / "site.yaml"
        site.write_text(
            yaml.safe_dump(
                {
                    "state": "state",
                    "listen": "127.0.0.1:0",
                    "sources": {"host": {"period": "1s"}},
                    "targets": [{"name": "host-001", "source": "host", "root": "root"}],
                }
            )
        )
        command = [sys.executable, "-m", "fabrichealth", "collect", "-c", str(site)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ) as child:
            try:
                address = _address(child)
                mib, share, samples = _watch(psutil.Process(child.pid), address, asked.seconds)
            finally:
                child.terminate()
                child.wait(10)
    met = mib <= GOAL_MIB and share <= GOAL_SHARE
    print(
        f"collect: {samples} samples of {asked.nics} NICs at 1 s, scraped every {SCRAPE:g} s: "
        f"{mib:.1f} MiB resident, {100 * share:.2f} % of a core; goal {'met' if met else 'MISSED'}"
    )
    return 0


def _address(child: "subprocess.Popen[str]") -> str:
    """Return where the daemon says that it serves."""
    while child.stderr is not None and (line := child.stderr.readline()):
        for word in line.split():
            if word.startswith("http"):
                return word.rstrip(",")
    raise SystemExit("the daemon did not start")


def _watch(process: psutil.Process, address: str, seconds: float) -> tuple[float, float, int]:
    """Return (MiB resident, share of one core, samples on the page)."""
    time.sleep(WARM_UP)
    before, began, samples, most = process.cpu_times(), time.monotonic(), 0, 0
    while (passed := time.monotonic() - began) < seconds:
        with urllib.request.urlopen(address, timeout=10) as reply:
            samples = sum(not line.startswith(b"#") for line in reply)
        most = max(most, process.memory_info().rss)
        time.sleep(min(SCRAPE, max(seconds - passed, 0.1)))
    after = process.cpu_times()
    spent = after.user + after.system - before.user - before.system
    return most / 2**20, spent / (time.monotonic() - began), samples


if __name__ == "__main__":
    sys.exit(main())
