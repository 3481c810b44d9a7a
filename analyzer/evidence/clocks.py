"""Clocks that stand apart, told from what both ends of many links must see together.

A cable that falls falls at both ends, and it comes back at both. Where the two ends tell different
times of it, and of most others of one device by as much, that device's clock stands apart
(detection reference, A7). Falls are compared with falls, returns with returns, counters with
counters. An end whose agent went silent with its device tells by its silence when it fell, if that
lasted as long as the far end's outage.

What pairs tell is a difference; the clock that stands apart over most of a device's cables is the
one that is wrong. Of equals it is the one with more pairs, then the one with fewer cables: a switch
is what most others agree with.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabrichealth.model import Changes, Finding, Floats, Port, place_of
from fabrichealth.settings import Duration, seconds
from fabrichealth.topology import Topology

BOUND: Duration = seconds(900)
"""Clocks that stand further apart than this are not paired."""

LEAST: Duration = seconds(30)
"""Clocks that stand apart by less are told apart by no poll of ten seconds."""

LEAST_PAIRS, LEAST_LINKS = 3, 2
"""Fewer pairs that agree are chance, and one link that flaps at a beat agrees with anything."""

CLEARLY = 1.2
"""By so many times more pairs than agree with any other offset."""

ALL = 0.8
"""Over so many of its cables is over all: some may have been down, or are not read."""

SLACK = 5.0
"""Polls take so long; pairs agree within it and half of the steps in which they were seen."""

SILENT = 3.0
"""An end that was not read for so many of its polls is silent."""

AWAKE = 120.0
"""An agent may speak so much later, or earlier, than its links are back after a restart."""

OFFSET = "clock_offset"
"""In a finding's `detail`: by how many seconds the clock of what it is about is ahead."""

MOST = 24
"""Moments of one kind at one end that are paired, the newest: a flapping link has thousands."""


class Moment(NamedTuple):
    """When an end saw something: at some time in (at - step, at]."""

    at: float
    step: float


@dataclass(frozen=True)
class Offset:
    """By how much a device's clock is ahead of its neighbours' (seconds), and who says so."""

    seconds: float
    pairs: int
    links: int
    since: float
    """The first of the moments that agree, by the clocks of the neighbours."""


@dataclass
class _Pairs:
    """Moments of both ends of links: `ahead[i]` is what `own[i]`'s clock seems ahead by."""

    own: NDArray[np.intp]
    """Device, by number."""
    far: NDArray[np.intp]
    link: NDArray[np.intp]
    moment: NDArray[np.intp]
    """The moment that `own` told, by number."""
    other: NDArray[np.intp]
    """The moment that `far` told."""
    ahead: Floats
    slack: Floats
    at: Floats
    """When, by the clock of `far`."""


def clock_of(topology: Topology, device: str) -> str:
    """Return the device whose clock stamps another's readings: an accelerator has its host's."""
    written = topology.devices.get(device)
    return (written.host or device) if written else device


def told_apart(before: Mapping[str, Sequence[Finding]]) -> dict[str, float]:
    """Return by how many seconds clocks are ahead, by device, as detectors said last."""
    return {
        place_of(one.about).id: one.detail[OFFSET]
        for said in before.values()
        for one in said
        if one.detail.get(OFFSET)
    }


def offsets(
    up: Changes,
    downs: Changes,
    topology: Topology,
    bound: float,
    least: float,
    right_since: Mapping[str, float],
) -> dict[str, Offset]:
    """Return the clocks that stand apart by `least` to `bound` seconds, by device.

    What a device told before its clock was set right (unix seconds) says nothing of it any more.
    """
    names, pairs = _pairs(_moments(up, downs), topology, bound, right_since)
    found: dict[str, Offset] = {}
    if not len(pairs.own):
        return found
    votes = {n: _vote(pairs, n, least) for n in range(len(names))}
    while likely := {n: vote for n, vote in votes.items() if vote is not None}:
        number = max(likely, key=lambda n: _rank(likely[n], topology, names[n]))
        found[names[number]] = likely[number]
        del votes[number]
        ahead = likely[number].seconds
        pairs.ahead[pairs.own == number] -= ahead
        pairs.ahead[pairs.far == number] += ahead
        for near in {*pairs.far[pairs.own == number].tolist()} & votes.keys():
            votes[near] = _vote(pairs, near, least)
    return found


def _rank(vote: Offset, topology: Topology, name: str) -> tuple[float, int, int, str]:
    """Return what sorts the clocks that may stand apart, the likeliest last."""
    cables = max(len(topology.links_of.get(name, ())), vote.links)
    return min(vote.links / cables, ALL), vote.pairs, -cables, name


def _vote(pairs: _Pairs, number: int, least: float) -> Offset | None:
    """Return the offset that most pairs of a device agree upon; None: they agree with 0."""
    mine = np.arange(*np.searchsorted(pairs.own, [number, number + 1]))
    if len(mine) < LEAST_PAIRS:
        return None
    ahead, slack = pairs.ahead[mine], pairs.slack[mine]
    candidates = np.unique(np.round(ahead[np.abs(ahead) >= least]))
    together = np.array([_support(pairs, mine, ahead - one, slack) for one in candidates])
    best = int(np.argmax(together)) if len(candidates) else 0
    if not len(candidates) or together[best] < LEAST_PAIRS:
        return None
    agree = np.abs(ahead - candidates[best]) <= slack
    offset = float(np.median(ahead[agree]))
    agree = np.abs(ahead - offset) <= slack
    other = np.abs(candidates - offset) > 2 * slack[agree].max()
    if together[best] <= max(
        2 * _support(pairs, mine, ahead, slack), CLEARLY * together[other].max(initial=0)
    ):
        return None
    links = len(np.unique(pairs.link[mine[agree]]))
    if links < LEAST_LINKS:
        return None
    return Offset(offset, int(together[best]), links, float(pairs.at[mine[agree]].min()))


def _support(pairs: _Pairs, mine: NDArray[np.intp], apart: Floats, slack: Floats) -> int:
    """Return how many moments, each counted once at either end, agree with an offset."""
    agree = mine[np.abs(apart) <= slack]
    return min(len(np.unique(pairs.moment[agree])), len(np.unique(pairs.other[agree])))


class _Seen(NamedTuple):
    """What one end tells: moments by what they are (fall, return, count), and its silences."""

    moments: dict[str, list[Moment]]
    silences: list[tuple[Moment, float]]
    """When each began and when it ended."""
    goes_on: Moment | None = None
    """When one began that has not ended yet."""
    lasts: float = 0.0
    """For how long that one goes on (seconds); 0 if there is none."""


def _moments(up: Changes, downs: Changes) -> dict[Port, _Seen]:
    found: dict[Port, _Seen] = {}
    for name, changes, which in (
        ("fall", up, (up.before == 1) & (up.after == 0)),
        ("return", up, (up.before == 0) & (up.after == 1)),
        ("count", downs, np.nan_to_num(downs.increase) > 0),
    ):
        for entry in np.flatnonzero(which & ~changes.unseen).tolist():
            port = Port(*changes.labels(int(changes.row_of[entry])))
            moment = Moment(float(changes.at[entry]), float(changes.step[entry]))
            if port not in found:
                found[port] = _nothing_yet(up, port)
            found[port].moments[name].append(moment)
    periods = np.nan_to_num(up.period)
    for gap, row in enumerate(up.gap_row.tolist()):
        period = float(periods[row])
        began = Moment(float(up.gap_start[gap]) + period, period)
        port = Port(*up.labels(row))
        if port not in found:
            found[port] = _nothing_yet(up, port)
        found[port].silences.append((began, float(up.gap_end[gap])))
    return found


def _nothing_yet(up: Changes, port: Port) -> _Seen:
    """Return that an end told nothing, and whether it is silent now."""
    row = up.row(*port)
    newest, period = (up.until, 0.0) if row is None else (up.seen_at[row], up.period[row])
    period, lasts = float(np.nan_to_num(period)), float(up.until - newest)
    if lasts <= SILENT * period:
        return _Seen(defaultdict(list), [])
    return _Seen(defaultdict(list), [], Moment(float(newest) + period, period), lasts)


def _pairs(
    seen: Mapping[Port, _Seen],
    topology: Topology,
    bound: float,
    right_since: Mapping[str, float],
) -> tuple[list[str], _Pairs]:
    """Return the names of devices by number, and every pair, once as seen from either end.

    Those that a device tells stand together.
    """
    names: dict[str, int] = {}
    rows: list[tuple[float, ...]] = []
    numbers: dict[tuple[Port, str, float], int] = {}
    links: dict[str, int] = {}
    for port, mine in seen.items():
        other, link = topology.peer(port), topology.link_of.get(port)
        if other is None or link is None or other not in seen or link.id in links:
            continue
        own, far = clock_of(topology, port.device), clock_of(topology, other.device)
        if own == far:
            continue
        cable = links[link.id] = len(links)
        first = max(right_since.get(own, -np.inf), right_since.get(far, -np.inf))
        devices = names.setdefault(own, len(names)), names.setdefault(far, len(names))
        for what, here, there in _matched(mine, seen[other]):
            ahead = (here.at - here.step / 2) - (there.at - there.step / 2)
            slack = SLACK + (here.step + there.step) / 2
            if abs(ahead) <= bound + slack and min(here.at, there.at) >= first:
                one = numbers.setdefault((port, what, here.at), len(numbers))
                two = numbers.setdefault((other, what, there.at), len(numbers))
                rows.append((*devices, cable, one, two, ahead, slack, there.at))
                rows.append((*devices[::-1], cable, two, one, -ahead, slack, here.at))
    columns = np.array(rows, np.float64).reshape(-1, 8)
    columns = columns[np.argsort(columns[:, 0], kind="stable")].T
    whole = [column.astype(np.intp) for column in columns[:5]]
    return list(names), _Pairs(*whole, *(column.copy() for column in columns[5:]))


def _matched(one: _Seen, other: _Seen) -> Iterable[tuple[str, Moment, Moment]]:
    """Yield what both ends may have seen together, of whatever distance in time."""
    for what in one.moments.keys() & other.moments.keys():
        for here in one.moments[what][-MOST:]:
            for there in other.moments[what][-MOST:]:
                yield what, here, there
    yield from (("fall", here, there) for here, there in _silent(one, other))
    yield from (("fall", here, there) for there, here in _silent(other, one))


def _silent(one: _Seen, other: _Seen) -> Iterable[tuple[Moment, Moment]]:
    """Yield the beginnings of silences and of the far end's outages that lasted as long.

    While a silence goes on that may be the outage's, older ones tell nothing: an agent that was
    away before its host restarted, a clock that leapt. What a clock that is behind said last is
    as old as that, and no silence.
    """
    falls, returns = other.moments.get("fall", ()), other.moments.get("return", ())
    outages = [
        (fall, min(back))
        for fall in falls[-MOST:]
        if (back := [up.at for up in returns if up.at > fall.at])
    ]
    for began, ended in one.silences[-MOST:]:
        for fall, again in outages:
            longer = (ended - began.at) - (again - fall.at)
            slack = SLACK + began.step + fall.step
            together = longer > 0 and abs(began.at - fall.at) <= slack  # by right clocks
            if abs(longer) > AWAKE + began.step + fall.step and not together:
                continue
            if one.goes_on is not None:
                behind = abs(one.lasts + began.at - fall.at) <= slack + SILENT * began.step
                if not behind or abs(one.goes_on.at - fall.at) <= slack:
                    continue
            yield began, fall
