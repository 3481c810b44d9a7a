"""Plant: a unit with a branch for each rack, two feeds for each, and what accelerators feel of it.

Heat is what the accelerators and their hosts draw; a cold plate's warmth over its coolant grows as
flow falls (half of its resistance is the film's, `Q^-0.8`), and modules sit in the same water.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from emulator.facility import CDU
from emulator.plan import Plan
from emulator.plant.cdu import LITRES_A_KILOWATT, Cdu, unit
from emulator.plant.electric import Feed, RackPower

LOAD = 0.8
"""Share of what a branch is built for that its rack gives at work."""
SETTLING = 90
"""Steps of ten seconds until flows and temperatures stand still."""
LIQUID_SHARE = 0.88
LEAST_KILOWATTS = 5.0
DESIGN_SUPPLY = 30.0
PLATE_KELVIN_A_WATT = 0.035
FILM = 0.5
"""Share of a plate's thermal resistance that depends on the flow."""
STEP = 2.0
"""Seconds of one step; longer ones are cut."""


@dataclass
class Plant:
    """What cools and feeds the racks of a plan."""

    cdu: Cdu
    racks: dict[str, RackPower]
    design: float
    """Litres a minute that each branch is built for."""
    contact: dict[str, float] = field(default_factory=dict)
    """Times the thermal resistance that the plates of a host were built with."""
    extra: dict[str, float] = field(default_factory=dict)
    """Watts that hang on a rack beside what the plan knows."""

    @property
    def feeds(self) -> dict[str, Feed]:
        """Every feed, by name."""
        return {feed.name: feed for rack in self.racks.values() for feed in rack.feeds}

    def advance(self, seconds: float, wanted: Mapping[str, float]) -> None:
        """Let time pass; `wanted` are the watts that each rack's devices would draw."""
        left = seconds
        while left > 1e-6:
            step = min(left, STEP)
            left -= step
            heat = {}
            for name, rack in self.racks.items():
                rack.advance(step, wanted.get(name, 0.0) + self.extra.get(name, 0.0))
                given = wanted.get(name, 0.0) * (1.0 - rack.slowed)
                heat[name] = 0.0 if rack.dark else LIQUID_SHARE * given
            self.cdu.advance(step, heat)

    def count(self, seconds: float) -> None:
        """Let so much time pass in which everything goes on as it is."""
        for feed in self.feeds.values():
            feed.watt_hours += feed.watts * seconds / 3600.0

    def warmer(self, rack: str) -> float:
        """Return by how many kelvin the water of a rack is warmer than it should be."""
        flow = self.cdu.hydraulics.flows.get(rack, 0.0)
        back = self.cdu.returns.get(rack, DESIGN_SUPPLY)
        usual = self.cdu.heat.get(rack, 0.0) / self.cdu.coolant.watts_per_kelvin(
            self.design, DESIGN_SUPPLY
        )
        return (back - DESIGN_SUPPLY - usual) if flow > 0 else 60.0

    def plate(self, host: str, rack: str) -> float:
        """Return kelvin a watt of a host's plates over the coolant that reaches them."""
        flow = max(self.cdu.hydraulics.flows.get(rack, 0.0), 1.0)
        film = float((self.design / flow) ** 0.8)
        return PLATE_KELVIN_A_WATT * (1.0 - FILM + FILM * film) * self.contact.get(host, 1.0)


def plant(plan: Plan) -> Plant:
    """Return the plant of a plan's racks, settled."""
    names = plan.rack_names
    racks = {
        name: RackPower(
            name,
            (Feed(f"{name}-A", plan.breaker), Feed(f"{name}-B", plan.breaker)),
            limit=plan.power_limit,
        )
        for name in names
    }
    kilowatts = max(LIQUID_SHARE * plan.rack_watts / LOAD / 1000.0, LEAST_KILOWATTS)
    cdu = unit(CDU, dict.fromkeys(names, kilowatts))
    made = Plant(cdu, racks, LITRES_A_KILOWATT * kilowatts)
    usual = dict.fromkeys(names, plan.rack_watts)
    for _ in range(SETTLING):
        made.advance(10.0, usual)
    for feed in made.feeds.values():
        feed.watt_hours = 0.0
    return made
