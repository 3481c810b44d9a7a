"""Kinds of loops: what is different of plates, tanks, doors and a building's own water.

Limits of supply: 45 °C for plates and tanks (class S45) and for a building (class W45; detection
reference, E5); of a door the warmest air that servers may breathe by ASHRAE's class A1 (32 °C,
recalled): no cooler air can come from it. Each is a setting of `cooling.supply_hot`.
"""

from dataclasses import dataclass

from fabrichealth.topology import Loop


@dataclass(frozen=True)
class LoopKind:
    """What is true of all loops of a kind."""

    words: str
    """How it is told to a person."""
    fluid: str
    """What is in it, if nothing is written."""
    holds_chips: bool
    """Whether chips give their heat to its coolant, and not to air."""
    is_its_reservoir: bool = False
    """Whether nearly all of its coolant stands in the vessel whose level is read."""


LOOP_KINDS = {
    "cold_plate": LoopKind("loop", "pg25", holds_chips=True),
    "immersion": LoopKind("tank", "dielectric", holds_chips=True, is_its_reservoir=True),
    "rear_door": LoopKind("rear door", "water", holds_chips=False),
    "facility": LoopKind("facility loop", "water", holds_chips=False),
}
"""By `kind` of a loop in the topology."""

UNWRITTEN = LOOP_KINDS["cold_plate"]


def fluid_in(row: Loop | None) -> str:
    """Return the name of a loop's coolant: what is written, else what such loops hold."""
    kind = LOOP_KINDS[row.kind] if row else UNWRITTEN
    return row.fluid if row and row.fluid else kind.fluid
