"""Info: what cooling and distribution units are, as info series."""

from collections.abc import Iterator, Mapping
from typing import Any

from collectors.maps.places import Places
from collectors.protocols.redfish.documents import Body
from collectors.redfish.kinds import kind
from collectors.redfish.names import Names
from fabrichealth.catalogue.cooling import LOOP_INFO
from fabrichealth.catalogue.devices import DEVICE_INFO
from fabrichealth.metric import Metric
from fabrichealth.model import Labels

METRICS = (LOOP_INFO, DEVICE_INFO)

FLUIDS: Mapping[str, str] = {
    "Water": "water", "Hydrocarbon": "hydrocarbon", "Fluorocarbon": "fluorocarbon",
    "Dielectric": "dielectric",
}  # fmt: skip
"""Coolant types (DSP0268, Coolant); a mixture of glycol is told by its additive's share."""


def described(
    names: Names, places: Places, bodies: Mapping[str, Body]
) -> list[tuple[Metric, Labels]]:
    """Return the info series of a tree's units."""
    return list(dict.fromkeys(_info(names, places, bodies)))


def _info(
    names: Names, places: Places, bodies: Mapping[str, Body]
) -> Iterator[tuple[Metric, Labels]]:
    for path, body in bodies.items():
        of = kind(path, body)
        labels = names.of(path, body)
        if of in {"CoolingUnit", "PowerDistribution"}:
            told = {
                "device": labels["device"],
                "model": " ".join(filter(None, (_said(body, "Manufacturer"),
                                                _said(body, "Model")))),
                "firmware": _said(body, "FirmwareVersion") or _said(body, "Version"),
            }  # fmt: skip
            yield DEVICE_INFO, tuple(told.get(label, "") for label in DEVICE_INFO.labels)
        if of == "CoolingUnit":
            written = places.target.topology.loops.get(labels["loop"])
            racks = _racks(places, labels["loop"])
            told = {
                "loop": labels["loop"], "cdu": labels["device"],
                "fluid": (written.fluid if written is not None else "") or _fluid(body),
                "racks": ",".join(racks),
                "control": written.control if written is not None else "",
            }  # fmt: skip
            yield LOOP_INFO, tuple(told.get(label, "") for label in LOOP_INFO.labels)


def _racks(places: Places, loop: str) -> list[str]:
    """Return the racks that a loop cools; what a rack's own row says wins."""
    topology = places.target.topology
    written = topology.loops.get(loop)
    listed = written.racks if written is not None else ()
    return [
        rack.name
        for rack in topology.racks.values()
        if rack.loop == loop or (not rack.loop and rack.name in listed)
    ]


def _fluid(body: Mapping[str, Any]) -> str:
    coolant = body.get("Coolant")
    if not isinstance(coolant, Mapping):
        return ""
    share = coolant.get("AdditivePercent")
    if _said(coolant, "AdditiveName").casefold() in {"propylene glycol", "pg"} and isinstance(
        share, int | float
    ):
        return f"pg{share:.0f}"
    return FLUIDS.get(_said(coolant, "CoolantType"), "")


def _said(body: Mapping[str, Any], key: str) -> str:
    said = body.get(key)
    return " ".join(said.split()) if isinstance(said, str) else ""
