"""One evening of optics: dirt, heat, a weak contact, a connector that moves, a laser that fails."""

from collections.abc import Sequence

from emulator.faults import Fault
from emulator.optic_faults import FAULTS
from emulator.plan import Plan
from emulator.scenario import MINUTE, Scenario


def _faults(plan: Plan) -> Sequence[Fault]:
    cables = [cable for cable in plan.cables if cable.medium == "optical"]
    ethernet = [cable for cable in cables if cable.technology == "roce"] or cables
    dirty, hot, loose, weak, failing, reflecting = (
        ethernet[number % len(ethernet)].b for number in range(6)
    )
    return [
        # somebody has touched a connector: light is low at one end, on neighbouring lanes
        FAULTS["dirt"](2 * MINUTE, 60 * MINUTE, dirty, 2.0, lane=1),
        # a fan has stopped: a module grows hot, and its receivers noisy
        FAULTS["heat"](3 * MINUTE, 60 * MINUTE, hot, 3.0),
        # light as ever, but the host's side of a module is weak since it was seated anew
        FAULTS["host"](4 * MINUTE, 60 * MINUTE, weak, 3.0, lane=2),
        # now these lanes are dim, now those
        FAULTS["loose"](6 * MINUTE, 60 * MINUTE, loose, 2.0),
        # light as ever at both ends, noise in bursts
        FAULTS["reflection"](8 * MINUTE, 60 * MINUTE, reflecting, 3.0),
        # a laser fails: its driver gives all, the far end has hardly any light
        FAULTS["failed"](12 * MINUTE, 60 * MINUTE, failing, 2.0, lane=3),
    ]


SCENARIO = Scenario("one evening of optics: dirt, heat, contacts, a laser that fails", _faults)
