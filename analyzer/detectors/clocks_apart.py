"""A device whose clock stands minutes apart from its neighbours', told by what both ends saw.

Its readings are put right by so much before anything else is judged (`analyzer/aligned.py`), so
that a restart is one restart, and cause comes before effect. Nobody is called for it. Stays quiet
while fewer than three falls or returns agree, and where as many agree that the clocks are right.
What was told once holds until later falls, or the clock itself, tell otherwise.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.clocks import BOUND, LEAST, OFFSET, Offset, offsets
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import LINK_DOWNS, UP
from fabrichealth.kinds import WATCH_DATA_IMPLAUSIBLE
from fabrichealth.model import Changes, Finding, Place, Port, View, place_of
from fabrichealth.narrative import span
from fabrichealth.settings import Duration, seconds

NEWEST = "newest"
"""In a finding's `detail`: the newest reading of the device, as put right (unix seconds)."""

RIGHT_SINCE = "right_since"
"""In a finding's `detail`: when the clock was found to be set right (unix seconds)."""

POLLS_LATE = 3.0
"""A reading that is late by the offset, less so many polls, needs none of it any more."""


class ClocksApartSettings(DetectorSettings):
    """Clocks-apart section of the configuration."""

    memory: Duration = seconds(86_400)
    """What was seen longer ago than this tells of no clock any more."""

    every: Duration = seconds(60)
    """How often it judges: what a link tells meanwhile is waited for."""

    bound: Duration = BOUND
    """Clocks that stand further apart than this are not told."""

    least: Duration = LEAST
    """Clocks that stand apart by less are right enough."""


class ClocksApart(Detector[ClocksApartSettings]):
    """Falls and returns that both ends of many links tell at other times."""

    kinds = (WATCH_DATA_IMPLAUSIBLE,)
    metrics = (UP, LINK_DOWNS)
    settings_type = ClocksApartSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per device whose clock stands apart."""
        up, settings = view.changes(UP), self.settings
        before = {one.about.id: one for one in view.before if isinstance(one.about, Place)}
        right = {name: one.detail.get(RIGHT_SINCE, -np.inf) for name, one in before.items()}
        told = offsets(
            up, view.changes(LINK_DOWNS), view.topology, settings.bound, settings.least, right
        )
        for device in sorted(before.keys() | told.keys()):
            known, newly = before.get(device), told.get(device)
            if newly is not None:
                ahead = newly.seconds + (known.detail[OFFSET] if known else 0.0)
                if settings.least <= abs(ahead) <= settings.bound:
                    since = known.since if known else newly.since
                    yield _finding(view, up, device, replace(newly, seconds=ahead, since=since))
            elif known is not None and view.now - right[device] <= settings.memory:
                yield _set_right(view, known)
            elif known is not None and RIGHT_SINCE not in known.detail:
                yield _known(view, known, _newest(view, up, device))


def _newest(view: View, up: Changes, device: str) -> tuple[float, float]:
    """Return when any port of a device was read last, and its period (seconds)."""
    rows = [
        row
        for link in view.topology.links_of.get(device, ())
        for end in link.ends
        if end.device == device and (row := up.row(*end)) is not None
    ]
    if not rows:
        return 0.0, 0.0
    return float(up.seen_at[rows].max()), float(np.nanmax(up.period[rows], initial=0.0))


def _known(view: View, known: Finding, newest: tuple[float, float]) -> Finding:
    """Return what was said before, as of now.

    A clock that was ahead was set right if what comes is old by all of the offset.
    """
    ahead, (at, period) = known.detail[OFFSET], newest
    comes = NEWEST in known.detail and at > known.detail[NEWEST]
    if ahead > 0 and comes and view.now - at >= ahead - POLLS_LATE * period:
        return _set_right(view, replace(known, detail={OFFSET: 0.0, RIGHT_SINCE: view.now}))
    return replace(known, at=view.now, detail={**known.detail, NEWEST: at})


def _set_right(view: View, known: Finding) -> Finding:
    """Return that a clock is right again; what it told before is not to be believed for a while."""
    ago = span(view.now - known.detail[RIGHT_SINCE])
    because = f"the clock of {place_of(known.about).id} was set right {ago} ago"
    return replace(known, at=view.now, because=because)


def _finding(view: View, up: Changes, device: str, offset: Offset) -> Finding:
    newest, _ = _newest(view, up, device)
    way = "ahead of" if offset.seconds > 0 else "behind"
    says = (
        f"{offset.pairs} falls and returns of {offset.links} links, seen by both ends, "
        f"agree upon {offset.seconds:+.0f} s"
    )
    ends = [end for link in view.topology.links_of.get(device, ()) for end in link.ends]
    port = next((end for end in ends if end.device == device), Port(device, ""))
    return Finding(
        kind=WATCH_DATA_IMPLAUSIBLE,
        about=Place("device", device),
        score=max(abs(offset.seconds) / 60.0, 1.0),
        since=offset.since,
        at=view.now,
        evidence=[evidence(UP, port, offset.seconds, view.now, says, 0.0, "s")],
        because=(
            f"the clock of {device}, or of what reads it, runs {span(abs(offset.seconds))} {way} "
            f"its neighbours': {says}"
        ),
        detail={OFFSET: offset.seconds, NEWEST: newest},
    )
