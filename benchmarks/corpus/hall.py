"""Hall: hosts, switches and the cables between them, as a topology file has them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.corpus.technologies import Technology

SWITCHES = 4
LOTS = ("2411", "2418", "2425")
VENDOR, PART = "Lumen", "L400"
IN_A_BUNDLE = 8


@dataclass(frozen=True)
class Run:
    """One cable of the hall: its two ports, `near` at the switch."""

    number: int
    near: tuple[str, str]
    far: tuple[str, str]
    bundle: str
    card: str
    lots: tuple[str, str]
    rack: str

    @property
    def ports(self) -> tuple[str, str]:
        """Both ends as `device/port`, the switch's first."""
        return "/".join(self.near), "/".join(self.far)

    @property
    def id(self) -> str:
        """`a--b`, sorted by bytes."""
        return "--".join(sorted(self.ports, key=str.encode))

    def lot(self, end: int) -> str:
        """Return the name that a lot has as a culprit."""
        return f"{VENDOR}/{PART}/{self.lots[end]}"


@dataclass(frozen=True)
class Hall:
    """Links of one technology: each host has a port to every switch."""

    technology: Technology
    runs: list[Run]

    @property
    def devices(self) -> list[str]:
        """Every device, sorted."""
        return sorted({end[0] for run in self.runs for end in (run.near, run.far)})

    def of_device(self, name: str) -> list[tuple[int, int]]:
        """Return (number of the link, end) of each port of a device."""
        return self._of_device.get(name, [])

    @cached_property
    def _of_device(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {}
        for run in self.runs:
            for end, port in enumerate((run.near, run.far)):
                found.setdefault(port[0], []).append((run.number, end))
        return found

    def topology(self) -> dict[str, Any]:
        """Return the content of a topology file."""
        made = self.technology
        far = "accelerator" if made.far == "accelerator" else "host"
        racks = sorted({run.rack for run in self.runs})
        rows: dict[str, dict[str, Any]] = {}
        for run in self.runs:
            rows[run.near[0]] = {"name": run.near[0], "role": "switch", "tier": 1, "rack": "r-net"}
            rows[run.far[0]] = {"name": run.far[0], "role": far, "tier": 0, "rack": run.rack}
        if made.silicon:
            for name, row in rows.items():
                if row["role"] == "switch":
                    rows[name] = {**row, "silicon": made.silicon}
        domains = [{"name": "pod", "kind": made.technology}] if far == "accelerator" else []
        for row in rows.values():
            if domains:
                row["domain"] = "pod"
        plain: dict[str, Any] = {
            "domains": domains,
            "racks": [{"name": name} for name in (*racks, "r-net")],
            "devices": list(rows.values()),
            "links": [self._link(run) for run in self.runs],
        }
        return plain

    def _link(self, run: Run) -> dict[str, Any]:
        made = self.technology
        near, far = run.ports
        row: dict[str, Any] = {
            "a": near, "b": far, "technology": made.technology, "medium": made.medium,
            "speed_gbps": made.speed, "line_rate_gbps": made.line_rate, "lanes": made.lanes,
            "fec": made.code.name, "plr": made.retries, "length_m": 30 if made.lit else 2,
            "card_a": run.card,
        }  # fmt: skip
        if made.generation:
            row["generation"] = made.generation
        if made.lit:
            row["bundle"] = run.bundle
        if made.medium != "backplane":
            for key, end in (("module_a", 0), ("module_b", 1)):
                row[key] = {
                    "vendor": VENDOR, "part": PART, "lot": run.lots[end],
                    "serial": f"S{run.number:04d}{end}", "firmware": "2.1",
                }  # fmt: skip
        return row


def hall(technology: Technology, hosts: int, chance: np.random.Generator) -> Hall:
    """Return a hall of so many hosts, four racks a row, with lots mixed by chance."""
    stem = "npu" if technology.far == "accelerator" else "host"
    port = {"nvlink": "nvlink", "ub": "ub"}.get(technology.technology, "eth")
    runs = []
    for host in range(hosts):
        for rail in range(SWITCHES):
            number = host * SWITCHES + rail
            name = f"{stem}-{host:03d}"
            lots = chance.choice(LOTS, 2)
            runs.append(
                Run(
                    number,
                    (f"leaf-{rail}", f"p{host}"),
                    (name, f"{port}/{rail}" if port != "eth" else f"{port}{rail}"),
                    f"mpo-{rail}-{host // IN_A_BUNDLE}",
                    f"leaf-{rail}/card-{host // IN_A_BUNDLE}",
                    (str(lots[0]), str(lots[1])),
                    f"r{host // 4:02d}",
                )
            )
    return Hall(technology, runs)
