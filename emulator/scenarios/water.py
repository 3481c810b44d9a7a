"""An evening of water and power: a wet rope, warm water from the building, a lost feed.

Two racks on branches of one coolant distribution unit and on two feeds each. Loads swing with the
jobs all the time.
"""

from collections.abc import Sequence

from emulator.faults import Fault
from emulator.plan import Plan
from emulator.plant.faults import FacilityHot, FeedLost, Leak, SupplyFails
from emulator.scenario import MINUTE, Scenario

PLAN = Plan(racks=2, hosts_per_rack=4, accelerators=8, rails=2, plant=True)


def _faults(plan: Plan) -> Sequence[Fault]:
    first, second = plan.rack_names[:2]
    return [
        # a hose of the first rack drips, its rope is wet, and somebody mends it
        Leak(6 * MINUTE, 11 * MINUTE, branch=first, litres_an_hour=30.0),
        # a supply of the first rack fails for good
        SupplyFails(14 * MINUTE, 90 * MINUTE, rack=first, supply="3"),
        # a breaker of the second rack is switched off: its partner carries everything
        FeedLost(19 * MINUTE, 27 * MINUTE, feed=f"{second}-A"),
        # the building sends warmer water: the loop cannot hold its supply, everything gets hot
        FacilityHot(32 * MINUTE, 90 * MINUTE, over=120.0, kelvin=22.0),
    ]


SCENARIO = Scenario(
    "an evening of water and power: a leak, a failed supply, a lost feed, hot water",
    _faults,
    PLAN,
)
