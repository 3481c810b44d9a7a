"""Plan: what an emulated supernode is made of, and how it is cabled.

Racks of hosts, each with accelerators joined by NVLink through the host's own NVSwitches and
with one InfiniBand HCA per rail; rail i of every host ends in switch `leaf-0i`. If asked for, an
Ethernet fabric beside it: interfaces `eth0`, `eth1` .. of each host, access switches of several
makes, and spines above them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from emulator.facility import CDU, facility_devices, loops_and_feeds

NVSWITCHES = 2
NVLINKS = 4
"""Links of one accelerator; half of them to each NVSwitch of its host."""


HOST_WATTS = 2600.0
"""Of a host beside its accelerators: processors, memory, NICs, fans."""
ACCELERATOR_WATTS = 525.0
"""Of an accelerator at work."""
BREAKERS = (16.0, 32.0, 63.0, 125.0, 250.0)
"""Amperes that breakers are made for."""
PHASE_WATTS = 3 * 230.0 * 0.97 * 0.96
"""That an ampere of three phases brings to what supplies feed."""

GENERATION = {"ib": {"generation": "ndr"}, "nvlink": {"generation": "nvlink4"}}

PORT_NAMES: dict[str, Callable[[int], str]] = {
    "sonic": lambda number: f"Ethernet{8 * (number - 1)}",
    "gnmi": lambda number: f"ethernet-1/{number}",
    "snmp": lambda number: f"Ethernet1/{number}",
    "eapi": lambda number: f"Ethernet{number}/1",
    "nvue": lambda number: f"swp{number}",
}
"""How a switch names its ports (counted from 1), by the source that reads it."""


@dataclass(frozen=True)
class Cable:
    """One link: its two ports, and what it is built for."""

    a: str
    b: str
    technology: str
    speed_gbps: float
    lanes: int
    medium: str

    @property
    def id(self) -> str:
        """`a--b`, sorted by bytes, as contract 2 names links."""
        return "--".join(sorted((self.a, self.b), key=str.encode))


@dataclass(frozen=True)
class Plan:
    """Sizes of the emulated supernode; names and cables follow from them."""

    racks: int = 2
    hosts_per_rack: int = 8
    accelerators: int = 8
    rails: int = 4
    access: tuple[str, ...] = ()
    """One Ethernet access switch for each, read by the source named."""
    spines: int = 1
    """Switches above the access switches, each cabled to all of them; they run SONiC."""
    planes: int = 1
    """Ethernet NICs of each host; those of a plane share access switches with no other's."""
    plant: bool = False
    """Whether water and power are emulated as well: a unit with a branch, and two feeds, a rack."""
    power_limit: float = 130_000.0
    """Watts that a rack may draw."""
    flows: bool = False
    """Whether Ethernet ports carry flows from NIC to NIC, with all that comes of it."""
    jobs: bool = False
    """Whether a scheduler hands out the accelerators, at first all to one job; else all work."""

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts."""
        return [f"host-{n:03d}" for n in range(1, self.racks * self.hosts_per_rack + 1)]

    @property
    def rack_names(self) -> list[str]:
        """Names of the racks."""
        return [f"r{n:02d}" for n in range(1, self.racks + 1)]

    @property
    def rack_watts(self) -> float:
        """What the hosts of a rack draw at work."""
        return self.hosts_per_rack * (HOST_WATTS + self.accelerators * ACCELERATOR_WATTS)

    @property
    def breaker(self) -> float:
        """Amperes of each feed's breaker: one carries its rack alone at 80 % of them."""
        needed = self.rack_watts / PHASE_WATTS / 0.8
        return next((one for one in BREAKERS if one >= needed), BREAKERS[-1])

    @property
    def leaves(self) -> list[str]:
        """Names of the leaf switches, one a rail."""
        return [f"leaf-{n:02d}" for n in range(1, self.rails + 1)]

    @property
    def makes(self) -> dict[str, str]:
        """The source that reads each Ethernet switch, by its name."""
        if not self.access:
            return {}
        towers = {f"tor-{number:02d}": make for number, make in enumerate(self.access, start=1)}
        return {**towers, **dict.fromkeys(self.spine_names, "sonic")}

    @property
    def spine_names(self) -> list[str]:
        """Names of the spines of the Ethernet fabric."""
        return [f"spine-{n:02d}" for n in range(1, self.spines + 1)] if self.access else []

    def mac(self, device: str, port: int = 0) -> str:
        """Return a MAC address of a host or Ethernet switch; port 0 is its chassis."""
        owner = [*self.hosts, *self.makes].index(device)
        octets = (2, 0, owner >> 8, owner & 255, port >> 8, port & 255)
        return ":".join(f"{octet:02x}" for octet in octets)

    def guid(self, device: str, rail: int = 0) -> str:
        """Return the GUID of a host's HCA of a rail, or of an InfiniBand switch: 16 digits."""
        if device in self.leaves:
            return f"b83fd2060000{self.leaves.index(device):04x}"
        return f"b83fd203{self.hosts.index(device):04x}{rail:04x}"

    def rack(self, host: str) -> str:
        """Return the rack of a host."""
        return f"r{self.hosts.index(host) // self.hosts_per_rack + 1:02d}"

    def stands_in(self, device: str) -> str:
        """Return the rack of a host or of a switch; these are spread over the racks."""
        if device in self._host_racks:
            return self._host_racks[device]
        mine = self.leaves if device in self.leaves else list(self.makes)
        return f"r{mine.index(device) % self.racks + 1:02d}"

    @cached_property
    def _host_racks(self) -> dict[str, str]:
        return {host: self.rack(host) for host in self.hosts}

    def accelerators_of(self, host: str) -> list[str]:
        """Return the names of a host's accelerators."""
        return [f"{host}-{n}" for n in range(self.accelerators)]

    def ids(self, host: str, slot: int) -> tuple[str, str]:
        """Return UUID and PCI address of an accelerator."""
        return f"GPU-{host}-{slot}", f"0000:{0x40 + slot:02x}:00.0"

    def nvswitches_of(self, host: str) -> list[str]:
        """Return the names of a host's NVSwitches."""
        return [f"{host}-nvswitch{n}" for n in range(NVSWITCHES)]

    def held_by(self, host: str) -> list[str]:
        """Return a host and every device in it: what goes dark with it."""
        return [host, *self.accelerators_of(host), *self.nvswitches_of(host)]

    @property
    def rails_cables(self) -> list[Cable]:
        """The InfiniBand cables, host by host."""
        return [
            Cable(f"{host}/mlx5_{rail}/1", f"{leaf}/{number}", "ib", 400.0, 4, "optical")
            for number, host in enumerate(self.hosts, start=1)
            for rail, leaf in enumerate(self.leaves)
        ]

    def trunk(self, cable: Cable) -> str:
        """Return the trunk that a cable runs in: one from each rack to each leaf, else none."""
        host, leaf = (port.partition("/")[0] for port in (cable.a, cable.b))
        return f"mpo-{leaf}-{self.rack(host)}" if cable.technology == "ib" else ""

    @property
    def ethernet_cables(self) -> list[Cable]:
        """The Ethernet cables: NICs in turn to the access switches of a plane, those to spines."""
        towers = [f"tor-{n:02d}" for n in range(1, len(self.access) + 1)]
        used = dict.fromkeys(towers, 0)
        found = []
        for number, host in enumerate(self.hosts):
            for plane in range(self.planes):
                mine = towers[plane :: self.planes]
                if mine:
                    port = self._next(mine[number % len(mine)], used)
                    found.append(Cable(f"{host}/eth{plane}", port, "roce", 400.0, 4, "optical"))
        for number, tower in enumerate(towers, start=1):
            for spine in self.spine_names:
                port = f"{spine}/{PORT_NAMES['sonic'](number)}"
                found.append(Cable(self._next(tower, used), port, "roce", 400.0, 4, "optical"))
        return found

    def _next(self, tower: str, used: dict[str, int]) -> str:
        """Return the next port of an access switch that has no cable yet."""
        used[tower] += 1
        return f"{tower}/{PORT_NAMES[self.makes[tower]](used[tower])}"

    @property
    def cables(self) -> list[Cable]:
        """Every cable."""
        return [*self.rails_cables, *self.ethernet_cables, *self.nvlink_cables]

    @property
    def nvlink_cables(self) -> list[Cable]:
        """The NVLinks, accelerator by accelerator."""
        found = []
        for host in self.hosts:
            switches = self.nvswitches_of(host)
            for slot, accelerator in enumerate(self.accelerators_of(host)):
                for link in range(NVLINKS):
                    switch = switches[link % NVSWITCHES]
                    far = slot * (NVLINKS // NVSWITCHES) + link // NVSWITCHES
                    near = f"{accelerator}/nvlink/{link}"
                    cable = Cable(near, f"{switch}/nvlink/{far}", "nvlink", 212.5, 2, "backplane")
                    found.append(cable)
        return found

    def topology(self) -> dict[str, Any]:
        """Return the topology file's content (contract 2)."""
        return {
            "domains": [
                {
                    "name": "pod-a",
                    "kind": "nvlink",
                    "accelerators": len(self.hosts) * self.accelerators,
                }
            ],
            "racks": [
                {
                    "name": name,
                    "domain": "pod-a",
                    "power_limit_watts": self.power_limit,
                    **({"loop": CDU, "branch": name} if self.plant else {}),
                }
                for name in self.rack_names
            ],
            **(loops_and_feeds(self.rack_names, self.breaker) if self.plant else {}),
            "devices": self._devices(),
            "links": [
                {
                    "a": cable.a,
                    "b": cable.b,
                    "technology": cable.technology,
                    **GENERATION.get(cable.technology, {}),
                    "medium": cable.medium,
                    "speed_gbps": cable.speed_gbps,
                    "lanes": cable.lanes,
                    "fec": "none" if cable.technology == "nvlink" else "rs544",
                    **({"bundle": trunk} if (trunk := self.trunk(cable)) else {}),
                }
                for cable in self.cables
            ],
        }

    def _devices(self) -> list[dict[str, Any]]:
        devices: list[dict[str, Any]] = [
            {"name": leaf, "role": "switch", "tier": 1, "rack": self.stands_in(leaf)}
            for leaf in self.leaves
        ]
        if self.plant:
            devices += facility_devices(self.rack_names)
        devices += [
            {
                "name": switch,
                "role": "switch",
                "tier": 2 if switch in self.spine_names else 1,
                "rack": self.stands_in(switch),
                "ids": [self.mac(switch)],
            }
            for switch in self.makes
        ]
        for host in self.hosts:
            place = {"rack": self.rack(host), "domain": "pod-a"}
            ids = {"ids": [self.mac(host)]} if self.access else {}
            devices.append({"name": host, "role": "host", "tier": 0, **place, **ids})
            held = {"host": host, **place}
            devices += [
                {"name": name, "role": "accelerator", **held, "ids": list(self.ids(host, slot))}
                for slot, name in enumerate(self.accelerators_of(host))
            ]
            devices += [
                {"name": name, "role": "switch", **held} for name in self.nvswitches_of(host)
            ]
        return devices
