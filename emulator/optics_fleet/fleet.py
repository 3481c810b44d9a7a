"""Fleet: which modules face which, and how each was built."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from emulator.module_kinds import ModuleKind

PORTS_OF_LEAF = 32
FED_BY_A_BANK = 4
"""Ports that share one external laser source."""
HOSTS_OF_RACK = 8
LOTS = ("2539", "2546", "2601", "2608")


@dataclass(frozen=True)
class Link:
    """One link: a leaf's port, a host's, and the modules in them."""

    number: int
    kind: ModuleKind

    @property
    def leaf(self) -> str:
        """The switch."""
        return f"leaf-{self.number // PORTS_OF_LEAF + 1:02d}"

    @property
    def host(self) -> str:
        """The host."""
        return f"host-{self.number + 1:03d}"

    @property
    def ends(self) -> tuple[str, str]:
        """Both ports, `device/port`."""
        return (
            f"{self.leaf}/Ethernet{self.number % PORTS_OF_LEAF * 8}",
            f"{self.host}/eth0",
        )

    @property
    def id(self) -> str:
        """The link's name: its ports in order."""
        return "--".join(sorted(self.ends))

    @property
    def bank(self) -> str:
        """The laser source that feeds the leaf's end."""
        return f"{self.leaf}/els-{self.number % PORTS_OF_LEAF // FED_BY_A_BANK + 1}"

    @property
    def fibres(self) -> str:
        """Name of what the interface sends: media, for its module's information."""
        return {"sr8": "400GBASE-SR8", "2xfr4": "400GBASE-FR4"}.get(self.kind.name, "400GBASE-DR4")

    def module(self, end: int) -> dict[str, str]:
        """Return what the module at an end is: vendor, part, lot, serial, firmware."""
        return {
            "vendor": "EMULATED",
            "part": self.kind.part,
            "lot": LOTS[(self.number * 2 + end) * 7 % 11 % len(LOTS)],
            "serial": f"EM{self.number:04d}{'AB'[end]}",
            "firmware": "1.7",
        }


def links(kind: ModuleKind, modules: int) -> list[Link]:
    """Return the links that so many modules make, two each."""
    return [Link(number, kind) for number in range(modules // 2)]


def topology(fleet: list[Link]) -> dict[str, Any]:
    """Return the topology file's content (contract 2)."""
    leaves = sorted({link.leaf for link in fleet})
    racks = [f"r{at // HOSTS_OF_RACK + 1:02d}" for at in range(len(fleet))]
    return {
        "domains": [{"name": "pod-a", "kind": "ub", "accelerators": 0}],
        "racks": [{"name": name, "domain": "pod-a"} for name in ["net-01", *sorted(set(racks))]],
        "devices": [
            *({"name": leaf, "role": "switch", "tier": 1, "rack": "net-01"} for leaf in leaves),
            *(
                {"name": link.host, "role": "host", "tier": 0, "rack": rack, "domain": "pod-a"}
                for link, rack in zip(fleet, racks, strict=True)
            ),
        ],
        "links": list(_links(fleet)),
    }


def _links(fleet: list[Link]) -> Iterator[dict[str, Any]]:
    for link in fleet:
        kind = link.kind
        row: dict[str, Any] = {
            "a": link.ends[0],
            "b": link.ends[1],
            "technology": "roce",
            "medium": kind.medium,
            "speed_gbps": kind.gbps,
            "line_rate_gbps": kind.line_gbps,
            "lanes": kind.lanes,
            "fec": "rs544",
            "module_a": link.module(0),
            "module_b": link.module(1),
        }
        if kind.external:
            row["lasers_a"] = link.bank
        yield row
