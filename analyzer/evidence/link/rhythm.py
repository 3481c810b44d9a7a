"""Rhythm: for how long a link that comes and goes may be quiet without being well.

A loose plug errs for minutes and is quiet for an hour, for days. Each time anew it would be news,
and each pause a recovery. Its own past tells how long its pauses are: silence shorter than three
of them proves nothing (rule of three: with a rate of r an hour, 3 / r hours without an event
leave 5 %).
"""

from dataclasses import dataclass, replace

import numpy as np

from analyzer.evidence.link.margins import RECALLED, ratios
from analyzer.evidence.link.measures import RULE_OF_THREE
from analyzer.evidence.link.receivers import Receivers
from fabrichealth.model import Finding, Floats, Past, View

LOOKED_AT = 86_400.0
"""Seconds of the past in which pauses are looked for; it is kept by the half hour for so long."""

DILUTED = 6.0
"""Minutes of errors in half an hour show as a sixth of what they were."""

UNUSUAL = 5.0
"""And they must be so many times what the link usually has."""

LONGEST = 6 * 3600.0
"""Seconds: a longer silence ends it, whatever it did before."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How a link that errs now came and went before."""

    times: int
    """How often it erred, this time included."""
    silence: float
    """Seconds of quiet that prove nothing yet; 0: it did not come and go."""


STEADY = Rhythm(1, 0.0)


def rhythm(
    view: View, ends: Receivers, place: int, line: float, warning: float, since: float | None
) -> Rhythm:
    """Return the rhythm of a port's errors before FEC; `warning` is its limit per bit.

    `since`: when it began to err again, if it was seen quiet just before; None: it was not.
    """
    for metric in RECALLED:
        past = view.past(metric)
        row = past.row(*ends.ports[place])
        if row is None:
            continue
        mine = Past(
            metric, past.table, past.series[row : row + 1], past.values[row : row + 1],
            past.starts, past.ends,
        )  # fmt: skip
        at, ratio = ratios(mine, np.array([line]))
        return of_pauses(at, ratio[0], warning, view.now, since)
    return STEADY


def of_pauses(
    at: Floats, ratio: Floats, warning: float, now: float, since: float | None = None
) -> Rhythm:
    """Return the rhythm of error ratios at ascending times, of what errs at `now`.

    What lies between two ill bins that are neighbours cannot be seen; that it was quiet just
    before `since` can.
    """
    recent = np.isfinite(ratio) & (at > now - LOOKED_AT)
    at, ratio = at[recent], ratio[recent]
    if len(at) < 2 or not warning > 0:
        return STEADY
    step = float(np.median(np.diff(at)))
    ill = ratio > max(warning / DILUTED, UNUSUAL * float(np.quantile(ratio, 0.25)))
    errs = at[ill & (at + step / 2 <= (now if since is None else since))].tolist()
    if not errs:
        return STEADY
    pauses = [gap for gap in np.diff(errs).tolist() if gap > 1.5 * step]
    if since is not None:
        pauses.append(max(since - errs[-1], step))
    elif not ill[-1]:
        pauses.append(now - errs[-1])
    if not pauses:
        return STEADY
    return Rhythm(len(pauses) + 1, min(RULE_OF_THREE * float(np.mean(pauses)), LONGEST))


BRIEF = 900.0
"""Seconds: what erred for no longer and is quiet again went by itself, and may come again"""

AFTER_BRIEF = 3600.0
"""within so many, before it is known how often it does."""

LAST, SILENCE, TIMES = "last", "silence", "times"
"""Under which a finding keeps, in its `detail`, when it erred last, for how long it waits, and how
often it came."""


def kept(before: Finding | None, beat: Rhythm, last: float, now: float) -> tuple[Rhythm, float]:
    """Return the rhythm of a port that errs now, and when it erred last.

    What is told of a longer span goes on while errors are quiet: a rhythm that was seen before
    holds until its silence has spoken.
    """
    if before is None:
        return beat, last
    erred = max(last, before.detail.get(LAST, last))
    silence = before.detail.get(SILENCE, 0.0)
    if beat.silence >= silence or now - erred >= silence:
        return beat, erred
    return Rhythm(max(int(before.detail.get(TIMES, 2.0)), beat.times), silence), erred


def goes_on(view: View, known: Finding) -> Finding | None:
    """Return what is still said of a port that is quiet, None once its silence speaks."""
    last = known.detail.get(LAST, known.at)
    silence = known.detail.get(SILENCE, 0.0)
    if not silence and last - known.since <= BRIEF:
        silence = AFTER_BRIEF
    if view.now - last >= silence:
        return None
    return replace(known, at=view.now, detail={**known.detail, LAST: last})
