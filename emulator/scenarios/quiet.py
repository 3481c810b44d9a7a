"""A quiet night: load comes and goes, one host restarts with notice, nothing is wrong."""

from collections.abc import Sequence

from emulator.faults import Fault, Reboot
from emulator.plan import Plan
from emulator.scenario import MINUTE, Scenario


def _faults(plan: Plan) -> Sequence[Fault]:
    return [Reboot(6 * MINUTE, 10 * MINUTE, plan.hosts[0], announced=True)]


SCENARIO = Scenario("a quiet night: one announced restart, nothing wrong", _faults)
