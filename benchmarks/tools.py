"""What reading logs and other people's tools costs: CPU seconds of one core.

Lines of a flooding kernel log, ports of an InfiniBand fabric out of perfquery, and ports of UFM's
CSV, each on the second poll, when every series is known. A plain `re` scan and the standard `csv`
reader stand beside them, as what the bytes alone cost.

    python -m benchmarks.tools [--lines 200000] [--ports 10000]
"""

import argparse
import csv
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from collectors.source import Target
from collectors.sources.ibtools import Ibtools, IbtoolsSettings
from collectors.sources.kernlog import Kernlog, KernlogSettings
from collectors.sources.ufm import Ufm, UfmSettings
from fabrichealth.model import SeriesTable

AT = 1_800_000_000.0
PMA = (
    "PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts", "SymbolErrorCounter",
    "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors", "PortXmitDiscards",
    "PortRcvRemotePhysicalErrors", "PortRcvSwitchRelayErrors", "VL15Dropped", "PortXmitWait",
)  # fmt: skip


def spent(work: Callable[[], object]) -> float:
    """Return the CPU seconds of the second of two calls."""
    work()
    began = time.process_time()
    work()
    return time.process_time() - began


def log_lines(number: int) -> str:
    """Return a kernel log of which each tenth line is of a kind that a rule knows."""
    quiet = "Jan 15 08:00:00 h kernel: systemd[1]: Started session {} of user root."
    loud = "Jan 15 08:00:00 h kernel: NVRM: Xid (PCI:0000:9b:00): 31, pid={}, name=train, fault"
    return "\n".join((quiet if n % 10 else loud).format(n) for n in range(number))


def perfquery(ports: int) -> str:
    """Return perfquery's output of so many ports of a switch of 64."""
    blocks = []
    for port in range(ports):
        head = f"# Port extended counters: Lid {port // 64 + 1} port {port % 64 + 1}"
        rows = "\n".join(f"{name}:{'.' * 20}{port * 7 + n}" for n, name in enumerate(PMA))
        blocks.append(f"{head} (CapMask: 0x5300 CapMask2: 0x0000002)\n{rows}\n")
    return "".join(blocks)


def ufm_csv(ports: int) -> str:
    """Return UFM's first set of counters of so many ports."""
    names = [f"{name}Extended" for name in PMA] + [f"hist{n}" for n in range(16)]
    head = ",".join(["timestamp", "node_guid", "port_guid", "port_num", *names])
    rows = [
        ",".join(
            ["1800000000000000", f"0x{port // 64 + 1:x}", f"0x{port // 64 + 1:x}",
             str(port % 64 + 1), *(str(port + n) for n in range(len(names)))]
        )
        for port in range(ports)
    ]  # fmt: skip
    return "\n".join([head, *rows])


def main() -> None:
    """Measure each, beside what its bytes alone cost, and print a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--ports", type=int, default=10_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log, perf, ufm = (Path(folder) / name for name in ("kern.log", "fabric", "ufm.csv"))
        log.write_text(log_lines(asked.lines))
        perf.write_text(perfquery(asked.ports))
        ufm.write_text(ufm_csv(asked.ports))
        kernlog = Kernlog(KernlogSettings(), Target("h", "kernlog"), SeriesTable())
        cost = spent(lambda: kernlog.captured([log], AT))
        plain = spent(lambda: re.findall(r"(?m)^.*NVRM: Xid .*$", log.read_text()))
        rate = f"{asked.lines / cost:,.0f} lines"
        print(f"kernlog: {rate} per CPU second ({cost:.2f} s; one re scan {plain:.2f} s)")
        ibtools = Ibtools(IbtoolsSettings(), Target("f", "ibtools"), SeriesTable())
        cost = spent(lambda: ibtools.captured([perf], AT))
        print(f"ibtools: {asked.ports / cost:,.0f} ports per CPU second ({len(PMA)} counters each)")
        source = Ufm(UfmSettings(), Target("f", "ufm"), SeriesTable())
        cost = spent(lambda: source.captured([ufm], AT))
        plain = spent(lambda: list(csv.reader(ufm.read_text().splitlines())))
        rate = f"{asked.ports / cost:,.0f} ports"
        print(f"ufm: {rate} of 29 columns per CPU second ({cost:.2f} s; csv alone {plain:.2f} s)")


if __name__ == "__main__":
    main()
