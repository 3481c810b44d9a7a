"""A rack is restarted without notice: many links fall at once, and nothing is wrong."""

from collections.abc import Sequence

from emulator.faults import Fault, Reboot
from emulator.plan import Plan
from emulator.scenario import MINUTE, Scenario


def _faults(plan: Plan) -> Sequence[Fault]:
    rack = [host for host in plan.hosts if plan.rack(host) == "r01"]
    return [Reboot(4 * MINUTE, 10 * MINUTE + 5 * n, host) for n, host in enumerate(rack)]


SCENARIO = Scenario("a whole rack restarts without notice: no page", _faults)
