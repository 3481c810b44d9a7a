"""What a variable costs over SNMP: CPU seconds of the client, beside other clients on one snmpd.

Starts snmpd in a network namespace of its own with many interfaces (where that may be done; else on
this host's), and walks the same subtree by our transport, by net-snmp's bulkwalk and by pysnmp.
Then our source polls its ports as the poller would, and prometheus-snmp-exporter the same columns.

    python -m benchmarks.snmp [--pairs 128] [--rounds 5]
"""

import argparse
import asyncio
import importlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from collectors.maps import snmp_rules
from collectors.source import Target
from collectors.sources.snmp import Snmp, SnmpSettings
from collectors.transports.snmp import SnmpClient
from fabrichealth.model import SeriesTable

IF_TABLE = "1.3.6.1.2.1.2.2.1"
PORT, EXPORTER = 16161, 19116
REPETITIONS = 50
TWICE, FIFTEEN = 2.0, 15.0
"""Goals: at most so many times net-snmp's cost, at least so many times better than pysnmp."""


@contextmanager
def running(*command: str | Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a server for a while."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(1.0)
        yield process
    finally:
        process.terminate()
        process.wait(10)


def net_snmp(rounds: int) -> float:
    """Return the CPU seconds a variable costs bulkwalk."""
    began, variables = _children(), 0
    for _ in range(rounds):
        done = subprocess.run(
            ["snmpbulkwalk", "-v2c", "-cpublic", "-On", f"-Cr{REPETITIONS}", "-m", "",
             f"127.0.0.1:{PORT}", IF_TABLE],
            capture_output=True, check=True,
        )  # fmt: skip
        variables += done.stdout.count(b"\n.") + 1
    return (_children() - began) / variables


async def ours(rounds: int) -> tuple[float, int]:
    """Return the CPU seconds a variable costs our transport, and the variables of a walk."""
    client = SnmpClient(Target("a", "snmp", f"snmp://127.0.0.1:{PORT}"), 5.0, 1, REPETITIONS)
    _, wrong = await client.columns([IF_TABLE])
    assert not wrong, wrong
    began, variables = time.process_time(), 0
    for _ in range(rounds):
        found, wrong = await client.columns([IF_TABLE])
        assert not wrong, wrong
        variables += len(found[IF_TABLE].oids)
    return (time.process_time() - began) / variables, variables // rounds


async def pysnmp() -> float:
    """Return the CPU seconds a variable costs pysnmp."""
    api = importlib.import_module("pysnmp.hlapi.v3arch.asyncio")  # a peer, not a part
    target = await api.UdpTransportTarget.create(("127.0.0.1", PORT), timeout=5)
    began, variables = time.process_time(), 0
    walk = api.bulk_walk_cmd(
        api.SnmpEngine(), api.CommunityData("public"), target, api.ContextData(), 0, REPETITIONS,
        api.ObjectType(api.ObjectIdentity(IF_TABLE)), lexicographicMode=False, lookupMib=False,
    )  # fmt: skip
    async for error, status, _, bindings in walk:
        assert not error, error
        assert not status, status
        variables += len(bindings)
    return float((time.process_time() - began) / variables)


async def polls(rounds: int) -> tuple[float, float, int, int]:
    """Return CPU and wall seconds of a poll of known ports, its readings and its variables."""
    table = SeriesTable()
    target = Target("leaf-01", "snmp", f"snmp://127.0.0.1:{PORT}")
    source = Snmp(SnmpSettings.model_validate({"answer": "5s"}), target, table)
    start = time.time()
    await source.read(start)
    began, wall = time.process_time(), time.perf_counter()
    readings = 0
    for number in range(rounds):  # within the pace of sensors and neighbours
        readings = (await source.read(start + number)).readings
    spent = (time.process_time() - began) / rounds, (time.perf_counter() - wall) / rounds
    await source.close()
    client = SnmpClient(target, 5.0, 1, REPETITIONS)
    answers, _ = await client.columns(_asked())
    return *spent, readings, sum(len(one.oids) for one in answers.values())


def _asked() -> list[str]:
    """Return the columns of a poll of known ports on an agent with 64-bit counters."""
    known = snmp_rules.interfaces()
    first = {name for rule in known.rules for name in rule.names[0]} | {"ifName"}
    return [known.oids[name] for name in (*sorted(first), known.ports.discontinuity)]


def exporter(folder: Path, rounds: int) -> tuple[float, int]:
    """Return the CPU seconds a variable costs prometheus-snmp-exporter, and how many it reads."""
    names = "".join(f"  - {oid}\n" for oid in _asked())
    metrics = "".join(
        f"  - name: column{number}\n    oid: {oid}\n    type: gauge\n    help: a column\n"
        "    indexes:\n    - labelname: ifIndex\n      type: gauge\n"
        for number, oid in enumerate(_asked())
    )
    (folder / "snmp.yml").write_text(
        f"ports:\n  walk:\n{names}  metrics:\n{metrics}  version: 2\n"
        f"  max_repetitions: {REPETITIONS}\n  auth:\n    community: public\n"
    )
    url = f"http://127.0.0.1:{EXPORTER}/snmp?module=ports&target=127.0.0.1:{PORT}"
    with running(
        "prometheus-snmp-exporter", f"--config.file={folder / 'snmp.yml'}",
        f"--web.listen-address=127.0.0.1:{EXPORTER}",
    ) as process:  # fmt: skip
        page = urllib.request.urlopen(url, timeout=60).read().decode()
        began = _spent(process.pid)
        for _ in range(rounds):
            page = urllib.request.urlopen(url, timeout=60).read().decode()
        spent = _spent(process.pid) - began
    told = next(line for line in page.splitlines() if line.startswith("snmp_scrape_pdus_returned"))
    variables = int(float(told.split()[-1]))
    return spent / rounds / variables, variables


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _spent(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _inside(pairs: int) -> None:
    """Give this namespace interfaces."""
    commands = ["link set lo up"]
    for number in range(pairs):
        commands += [f"link add a{number} type veth peer name b{number}"]
        commands += [f"link set a{number} up", f"link set b{number} up"]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(commands), text=True, check=True)


def main() -> None:
    """Start snmpd, let each client walk, and print a line each with the goals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if shutil.which("snmpd") is None or shutil.which("snmpbulkwalk") is None:
        print("snmp: not run, no snmpd or no snmpbulkwalk: apt-get install snmpd snmp")
        return
    may = ["unshare", "--net", "true"]
    if not asked.inside and subprocess.run(may, capture_output=True, check=False).returncode == 0:
        again = ["unshare", "--net", sys.executable, "-m", "benchmarks.snmp", "--inside"]
        given = ["--pairs", str(asked.pairs), "--rounds", str(asked.rounds)]
        os.execvp("unshare", [*again, *given])  # noqa: S606 - ourselves, among interfaces
    if asked.inside:
        _inside(asked.pairs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "snmpd.conf").write_text("rocommunity public 127.0.0.1\n")
        os.environ |= {"MIBS": "", "SNMP_PERSISTENT_DIR": name}
        with running(
            "snmpd", "-f", "-Lf", folder / "log", "-C", "-c", folder / "snmpd.conf",
            "-p", folder / "pid", f"udp:127.0.0.1:{PORT}",
        ):  # fmt: skip
            _report(folder, asked.rounds)


def _report(folder: Path, rounds: int) -> None:
    theirs = net_snmp(rounds)
    mine, variables = asyncio.run(ours(rounds))
    slow = asyncio.run(pysnmp())
    print(
        f"snmp: walk of {variables} variables, CPU per variable: ours {1e6 * mine:.1f} us, "
        f"bulkwalk {1e6 * theirs:.1f} us ({mine / theirs:.2f} times; at most {TWICE:g}: "
        f"{'met' if mine <= TWICE * theirs else 'MISSED'}), pysnmp {1e6 * slow:.1f} us "
        f"({slow / mine:.0f} times; at least {FIFTEEN:g}: "
        f"{'met' if slow >= FIFTEEN * mine else 'MISSED'})"
    )
    cpu, wall, readings, columns = asyncio.run(polls(4 * rounds))
    print(
        f"snmp: a poll of known ports, {readings} readings of {columns} variables: "
        f"{1e3 * cpu:.1f} ms of CPU, {1e3 * wall:.0f} ms in all, {1e6 * cpu / columns:.1f} us a "
        f"variable, decoded ({cpu / columns / theirs:.2f} times bulkwalk, "
        f"pysnmp {slow / (cpu / columns):.0f} times)"
    )
    if shutil.which("prometheus-snmp-exporter") is None:
        print("snmp: no prometheus-snmp-exporter: apt-get install prometheus-snmp-exporter")
        return
    each, read = exporter(folder, 4 * rounds)
    print(f"snmp: prometheus-snmp-exporter reads {read} variables, {1e6 * each:.1f} us of CPU each")


if __name__ == "__main__":
    main()
