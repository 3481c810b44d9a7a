"""Resource claims and slices: devices that pods ask for and are given, and that nodes offer.

(resource.k8s.io/v1, v1beta2 and v1beta1, which keeps some fields a level deeper.)
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from collectors.protocols.kubernetes_devices import (
    OF_OTHER_THINGS,
    drives_accelerators,
    quantity,
    sliced,
)
from collectors.protocols.kubernetes_objects import inner, objects, text


class Device(NamedTuple):
    """A claimed device; the pool is its node's name where it lies in one."""

    driver: str
    pool: str
    name: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A resource claim: `asked` accelerators, and the devices of their drivers that it got."""

    namespace: str
    name: str
    devices: tuple[Device, ...]
    asked: int = 0
    strange: tuple[str, ...] = ()
    """Drivers of devices that it got besides, which may be of accelerators or not."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A resource slice: how many accelerators one driver offers on a node, in part of a pool.

    Of a pool only the slices of its latest generation count. Slices of accelerators are none.
    """

    name: str
    node: str
    pool: tuple[str, str]
    """Its driver and name."""
    generation: int
    accelerators: int


def claim(row: Mapping[str, Any], space: str, name: str, resources: Collection[str]) -> Claim:
    """Read one claim; `resources` are drivers and classes of accelerators beyond those known."""
    got = tuple(_allocated(row))
    own = tuple(one for one in got if drives_accelerators(one.driver, resources))
    other = {one.driver for one in got} - {one.driver for one in own} - OF_OTHER_THINGS
    return Claim(space, name, own, _claimed(row, resources), tuple(sorted(other)))


def offer(row: Mapping[str, Any], name: str, resources: Collection[str]) -> Offer:
    """Read one resource slice; a device that is tainted is not offered."""
    spec = inner(row, "spec")
    pool, driver = inner(spec, "pool"), text(spec, "driver")
    many = sum(
        sliced(text(device, "name")) is None
        and not (device.get("taints") or inner(device, "basic").get("taints"))
        for device in objects(spec.get("devices"))
    )
    own = many if drives_accelerators(driver, resources) else 0
    latest = quantity(pool.get("generation", 0))
    return Offer(name, text(spec, "nodeName"), (driver, text(pool, "name")), latest, own)


def _allocated(row: Mapping[str, Any]) -> Iterator[Device]:
    allocation = inner(inner(row, "status"), "allocation")
    for one in objects(inner(allocation, "devices").get("results")):
        if one.get("adminAccess") is not True:  # who looks at a device does not hold it
            yield Device(text(one, "driver"), text(one, "pool"), text(one, "device"))


def _claimed(row: Mapping[str, Any], resources: Collection[str]) -> int:
    """Return the accelerators that a claim asks for; the first of alternatives is what it wants."""
    many = 0
    for request in objects(inner(inner(row, "spec"), "devices").get("requests")):
        either = objects(request.get("firstAvailable"))
        one = either[0] if either else inner(request, "exactly") or request  # v1beta1 has no such
        if one.get("adminAccess") is True or one.get("allocationMode") == "All":
            continue
        if drives_accelerators(text(one, "deviceClassName"), resources):
            many += quantity(one.get("count", 1))
    return many
