"""Flows: what the meters of a loop say together of whether anything flows in it.

Each is a vote: the main's meter, the return's, those of the branches. One of them may have failed,
and the unit's own may fall silent together; so that most of them count, and those of the branches,
which are other instruments, one by one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.cooling.loops import FLOW_BACK, FLOW_TO, Cooling
from analyzer.evidence.cooling.trails import Chosen
from analyzer.evidence.durations import Bools, fresh, last_polls, unbroken
from fabrichealth.catalogue.cooling import FLOW
from fabrichealth.model import Floats, Window

POLLS = 2
"""What stands for so many polls has stopped."""

GONE = 0.1
"""Less than this share of its usual flow or drop is none."""

AGREE = 3
"""So many of a loop's meters say it together: branches that stand for a main that is silent."""

STILL_FLOWS = 0.5
"""From this share of its usual flow on a meter says that the loop is driven, whatever its pumps
say; between this and `GONE` it says neither."""


@dataclass(frozen=True)
class Flows:
    """What flows in each loop ([loop] of `Places.loops`)."""

    dry: Bools
    """Its flow is gone, by two polls, and no other meter says otherwise."""
    since: Floats
    now: Floats
    """L/min; NaN where it is not read."""
    for_flow: Floats
    """How many meters say that much flows."""
    against: Floats
    """How many say that nothing does."""


def flows(cooling: Cooling, normal: Floats) -> Flows:
    """Return what flows in each loop, given its usual flow; `cooling` has all loops' mains.

    By the meter of its main; where that has none, by the trail, which sums up its branches. A
    meter that says nothing flows while its branches' or the return's say otherwise has failed.
    """
    flow = cooling[FLOW_TO]
    with np.errstate(invalid="ignore", over="ignore"):
        dry = np.asarray(flow[:, -1] < GONE * normal, np.bool_)
    since = np.full(len(dry), cooling.view.now - cooling.hold)
    now = flow[:, -1].copy()
    nobody = np.zeros(len(dry))
    window = cooling.view[FLOW]
    if not len(window):
        return Flows(dry, since, now, nobody, nobody)
    rows = np.flatnonzero(FLOW_TO.of(cooling.whole, window)[_at(window)])
    of = cooling.whole.of[FLOW][_at(window)[rows]]
    main = ~cooling.whole.branched[of]
    branches, metered = _together(cooling, window, FLOW_TO, branches=True)
    back, returns = _together(cooling, window, FLOW_BACK, branches=False)
    whole = window
    window, loop = window.select(rows[main]), cooling.whole.loop[of[main]]
    still = window.values < GONE * normal[loop][:, None]
    speaks = fresh(window)
    began, _ = unbroken(still, window)
    told = loop[speaks]
    dry[told] = (last_polls(still, window, POLLS) & speaks)[speaks]
    since[told] = began[speaks]
    now[told] = window.last[speaks]
    own = np.zeros(len(dry))
    own[told] = 1.0
    for_flow, against = np.zeros(len(dry)), np.zeros(len(dry))
    with np.errstate(invalid="ignore", over="ignore"):
        for amount, meters in ((now, own), (branches, metered), (back, returns)):
            for_flow += np.where(amount >= STILL_FLOWS * normal, meters, 0.0)
            against += np.where(amount < GONE * normal, meters, 0.0)
        dry &= ~(np.fmax(branches, back) >= GONE * normal)
        # a unit that is dead, or answers zeros, hides nothing that its branches' own meters see
        before, _ = _together(cooling, whole, FLOW_TO, branches=True, newest=POLLS)
        mute = (own == 0) & (metered >= AGREE) & (for_flow == 0)
        gone = mute & (branches < GONE * normal) & (before < GONE * normal)
    dry |= gone
    now[gone] = branches[gone]
    return Flows(dry, since, now, for_flow, against)


def _together(
    cooling: Cooling, window: Window, chosen: Chosen, *, branches: bool, newest: int = 1
) -> tuple[Floats, Floats]:
    """Return the newest flows of a loop's branches, or of its main, added up, and of how many.

    Both [loop]. `newest`: the highest of so many last polls of each.
    """
    of = cooling.whole.of[FLOW][_at(window)]
    mine = chosen.of(cooling.whole, window)[_at(window)] & fresh(window)
    mine &= cooling.whole.branched[of] == branches
    mine &= np.isfinite(window.last)
    loop = cooling.whole.loop[of[mine]]
    count = np.bincount(loop, minlength=len(cooling.whole.loops)).astype(np.float64)
    found = np.where(count > 0, 0.0, np.nan)
    said = window.values[mine]
    rank = np.cumsum(np.isfinite(said)[:, ::-1], axis=1)[:, ::-1]  # 1 for the newest of each row
    np.add.at(found, loop, np.fmax.reduce(np.where(rank <= newest, said, np.nan), axis=1))
    return found, count


def _at(window: Window) -> NDArray[np.intp]:
    return np.searchsorted(window.table.of(window.metric), window.series)
