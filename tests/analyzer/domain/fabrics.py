"""A domain of racks on planes of switches, written by hand."""

from collections.abc import Collection, Mapping

import numpy as np

from analyzer.evidence.domain.wiring import Carried, Wiring, wiring
from fabrichealth.topology import Device, Domain, Link, Rack, Topology


def planes(
    racks: int = 4, each: int = 4, switches: int = 2, gbps: float | None = 400.0, spare: int = 0
) -> Topology:
    """Return a domain `pod` whose accelerators all end in each switch `s0`, `s1` .. of the pod.

    Accelerator n of rack r is `a{r}{n}`, with port `ub/0/{s}` to switch s; `spare` accelerators
    more are written than there are.
    """
    devices = [Device(name=f"s{number}", role="switch") for number in range(switches)]
    links = []
    for rack in range(racks):
        for number in range(each):
            name = f"a{rack}{number}"
            devices.append(Device(name=name, role="accelerator", rack=f"r{rack}", domain="pod"))
            links += [
                Link(a=f"{name}/ub/0/{switch}", b=f"s{switch}/d{rack}-{number}",
                     technology="ub", speed_gbps=gbps)
                for switch in range(switches)
            ]  # fmt: skip
    domain = Domain(name="pod", kind="ub", accelerators=racks * each + spare)
    return Topology(devices, links, [domain], [Rack(name=f"r{n}") for n in range(racks)])


def leaves_and_spines(racks: int = 4, each: int = 2, spines: int = 2) -> Topology:
    """Return hosts with one accelerator on a leaf a rack, each leaf once on each spine; RoCE."""
    devices = [Device(name=f"spine-{n}", role="switch", tier=2) for n in range(spines)]
    links = []
    for rack in range(racks):
        leaf = f"leaf-{rack}"
        devices.append(Device(name=leaf, role="switch", tier=1))
        for number in range(each):
            host = f"h{rack}{number}"
            place = {"rack": f"r{rack}", "domain": "pod"}
            devices.append(Device(name=host, role="host", **place))
            devices.append(Device(name=f"{host}-0", role="accelerator", host=host, **place))
            links.append(
                Link(a=f"{host}/eth0", b=f"{leaf}/d{number}", technology="roce", speed_gbps=400)
            )
        links += [
            Link(a=f"{leaf}/u{n}", b=f"spine-{n}/d{rack}", technology="roce", speed_gbps=400)
            for n in range(spines)
        ]
    return Topology(devices, links, [Domain(name="pod", kind="nvlink")])


def carrying(
    topology: Topology,
    dark: Collection[str] = (),
    slow: Mapping[str, float] | None = None,
    unheard: Collection[str] = (),
) -> tuple[Wiring, Carried]:
    """Return a topology's wiring, and what carries when links of these devices or ids are dark.

    `slow` gives the Gb/s of some links by id.
    """
    wired = wiring(topology)
    gbps = wired.gbps.copy()
    heard = np.ones(len(gbps), bool)
    for number, link in enumerate(topology.links.values()):
        touched = {link.id, *(end.device for end in link.ends)}
        if touched & set(dark):
            gbps[number] = 0.0
        if touched & set(unheard):
            heard[number] = False
        gbps[number] = (slow or {}).get(link.id, gbps[number])
    return wired, Carried(gbps, heard)
