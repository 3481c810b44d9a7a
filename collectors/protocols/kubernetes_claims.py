"""Resource claims: devices that pods ask for and are given (resource.k8s.io/v1, v1beta1)."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from collectors.protocols.kubernetes_devices import OF_OTHER_THINGS, drives_accelerators, quantity
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


def claim(row: Mapping[str, Any], space: str, name: str, resources: Collection[str]) -> Claim:
    """Read one claim; `resources` are drivers and classes of accelerators beyond those known."""
    got = tuple(_allocated(row))
    own = tuple(one for one in got if drives_accelerators(one.driver, resources))
    other = {one.driver for one in got} - {one.driver for one in own} - OF_OTHER_THINGS
    return Claim(space, name, own, _claimed(row, resources), tuple(sorted(other)))


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
