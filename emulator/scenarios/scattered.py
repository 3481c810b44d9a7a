"""A morning of small jobs: a little is free on every host, and a job of one host waits for it."""

from collections.abc import Sequence

from emulator.faults import Fault
from emulator.plan import Plan
from emulator.scenario import MINUTE, Scenario
from emulator.scheduling.faults import Scattered

PLAN = Plan(racks=2, hosts_per_rack=4, accelerators=8, rails=2, jobs=True)


def _faults(plan: Plan) -> Sequence[Fault]:
    return [Scattered(4 * MINUTE, 30 * MINUTE)]


SCENARIO = Scenario(
    "a morning of small jobs: three free on every host, and a job of eight that waits",
    _faults,
    PLAN,
)
