"""An evening of storms: a broken NIC, then a slow receiver, a choppy NIC, a switch without marks.

Two planes of two leaves each below two spines, six hosts a leaf. Harmless incasts of some hundred
milliseconds come all the time, and a lasting one that marks hold from the first minute on.
"""

from collections.abc import Sequence

from emulator.congestion.faults import (
    BrokenNic,
    ChoppyStorm,
    Incast,
    SlowReceiver,
    Thresholds,
)
from emulator.faults import Fault
from emulator.plan import Plan
from emulator.scenario import MINUTE, Scenario

PLAN = Plan(
    racks=2,
    hosts_per_rack=6,
    accelerators=2,
    rails=0,
    access=("sonic", "nvue", "sonic", "nvue"),
    spines=2,
    planes=2,
    flows=True,
)


def _faults(plan: Plan) -> Sequence[Fault]:
    hosts = plan.hosts
    return [
        # four hosts write to one for the whole evening; marks hold them, nobody is stopped
        Incast(1 * MINUTE, 120 * MINUTE, f"{hosts[8]}/eth0", senders=4),
        # the receive pipeline of a NIC stands still, until its host is taken out
        BrokenNic(3 * MINUTE, 7 * MINUTE, f"{hosts[2]}/eth0"),
        # another cannot take what comes: a short stop now and again, for a quarter of the time
        SlowReceiver(9 * MINUTE, 14 * MINUTE, f"{hosts[5]}/eth1", duty=0.25),
        # a third stops its switch in turns: a watchdog that waits for one long stop sees none
        ChoppyStorm(16 * MINUTE, 19 * MINUTE, f"{hosts[7]}/eth0", duty=0.75),
        # somebody has set up a switch anew and forgotten its marks
        Thresholds(21 * MINUTE, 27 * MINUTE, "tor-03"),
        Incast(21 * MINUTE, 27 * MINUTE, f"{hosts[3]}/eth0", senders=4),
    ]


SCENARIO = Scenario(
    "an evening of storms: a broken NIC, a slow one, a choppy one, marks forgotten",
    _faults,
    PLAN,
    speed=10.0,
)
