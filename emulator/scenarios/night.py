"""One night on call: real faults, and what only looks like one."""

from collections.abc import Sequence

from emulator.faults import (
    Dark,
    Fault,
    Flapping,
    Maintenance,
    Narrow,
    Reboot,
    SickReceiver,
    Unplugged,
    Xid,
)
from emulator.plan import Plan
from emulator.scenario import MINUTE, Scenario


def _faults(plan: Plan) -> Sequence[Fault]:
    hosts, leaves = plan.hosts, plan.leaves
    cables = {cable.a: cable.id for cable in (*plan.rails_cables, *plan.nvlink_cables)}
    dying = f"{plan.accelerators_of(hosts[8])[3]}/nvlink/2"
    others = tuple(name for name in plan.accelerators_of(hosts[8]))
    return [
        # a cable is pulled, and stays out for a quarter of an hour
        Unplugged(2 * MINUTE, 17 * MINUTE, cables[f"{hosts[5]}/mlx5_2/1"]),
        # a receiver loses data: no link goes down, but jobs on it crawl
        SickReceiver(3 * MINUTE, 60 * MINUTE, f"{hosts[2]}/mlx5_1/1", symbol_errors=0.05),
        # one NVLink retrains more and more; then its neighbours report errors
        SickReceiver(4 * MINUTE, 60 * MINUTE, dying, recoveries=0.02, replays=0.4),
        Xid(16 * MINUTE, 60 * MINUTE, others, 145),
        # a host restarts, and nobody said so
        Reboot(7 * MINUTE, 12 * MINUTE, hosts[11]),
        # a link comes back at half its width
        Narrow(10 * MINUTE, 60 * MINUTE, cables[f"{hosts[6]}/mlx5_0/1"]),
        # work on a rack, announced; its flapping is nobody's page
        Maintenance(13 * MINUTE, 28 * MINUTE, "r02", "chg-42"),
        Flapping(14 * MINUTE, 24 * MINUTE, cables[f"{hosts[13]}/mlx5_3/1"], every=90.0),
        # a switch dies: sixteen links, one page
        Dark(20 * MINUTE, 30 * MINUTE, leaves[2]),
    ]


SCENARIO = Scenario("one night on call: faults, a restart, maintenance, a dead switch", _faults)
