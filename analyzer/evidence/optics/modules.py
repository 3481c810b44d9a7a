"""What each module is, since when it sits there, and whether it can be judged now.

A module that was just put in, or whose link just came up, is still warming up; one whose lasers
are all off is switched off (LowPwr, disabled), not ill; copper has no light. The names of parts
make the groups of peers that a module can be compared with.
"""

import weakref
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analyzer.evidence.durations import Bools
from analyzer.evidence.optics.roster import Roster
from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.model import Changes, Floats, Past, Port, View, Window
from fabrichealth.topology import Topology

COPPER = frozenset({"dac", "acc", "aec", "backplane", "copper"})
UNRETIMED = frozenset({"lpo"})
"""Linear pluggables: no DSP, so no error ratio of the media side and no side to tell apart."""


@dataclass(frozen=True)
class Identity:
    """What a port's module says it is; empty where it does not say."""

    vendor: str = ""
    part: str = ""
    serial: str = ""
    lot: str = ""
    kind: str = ""
    media: str = ""

    @property
    def copper(self) -> bool:
        """Whether it has no light."""
        return self.kind in COPPER or self.media in COPPER

    @property
    def unretimed(self) -> bool:
        """Whether it has no DSP that could know its errors."""
        return self.kind in UNRETIMED or self.media in UNRETIMED


@dataclass(frozen=True)
class Modules:
    """Facts of every module ([port] by the roster's numbers)."""

    identity: list[Identity]
    group: NDArray[np.int64]
    """Equal for ports whose modules should be alike."""
    since: Floats
    """Unix seconds since which the present module may sit there; -inf: no other was seen."""
    settled: Bools
    """Neither just put in nor just come up, and not down."""
    copper: Bools


def modules(view: View, lanes: Roster, warm_up: float) -> Modules:
    """Return what is known of the modules; series of `lanes` must be numbered before."""
    named = _named(view, lanes)
    identity, since = named.identity, named.since
    settled = _settled(view, lanes, warm_up) & ~(since > view.now - warm_up)
    return Modules(identity, named.group, since, settled, named.copper)


@dataclass(frozen=True, eq=False)
class _Named:
    """What follows from the names that modules give, and what it was worked out from."""

    infos: NDArray[np.int32]
    order: NDArray[np.int64]
    """Which of several words of one port was said last."""
    past: weakref.ReferenceType[Past]
    topology: weakref.ReferenceType[Topology]
    identity: list[Identity]
    since: Floats
    group: NDArray[np.int64]
    copper: Bools


# Derived and never decided upon: made again it is the same, only slower.
_known: weakref.WeakKeyDictionary[Roster, _Named] = weakref.WeakKeyDictionary()


def _named(view: View, lanes: Roster) -> _Named:
    """Return what the modules say of themselves; worked out again only when that changed."""
    infos, past = view.changes(OPTICS_INFO), view.past(OPTICS_INFO)
    port = lanes.port[lanes.places(infos.table, OPTICS_INFO, infos.rows)]
    several = np.flatnonzero(np.bincount(port, minlength=len(lanes.ports))[port] > 1)
    order = several[np.argsort(infos.seen_at[several], kind="stable")]
    kept = _known.get(lanes)
    if (
        kept is not None
        and kept.past() is past
        and kept.topology() is view.topology
        and len(kept.identity) == len(lanes.ports)
        and np.array_equal(kept.infos, infos.rows)
        and np.array_equal(kept.order, order)
    ):
        return kept
    identity, since = _identities(infos, past, lanes)
    for end, link in view.topology.link_of.items():
        number = lanes.port_number(end)
        if number is not None and not (identity[number].kind or identity[number].media):
            identity[number] = Identity(**{**vars(identity[number]), "media": link.medium})
    names: dict[tuple[str, ...], int] = {}
    group = [
        names.setdefault(_likeness(one, end, view.topology), len(names))
        for one, end in zip(identity, lanes.ports, strict=True)
    ]
    copper = np.array([one.copper for one in identity], np.bool_)
    found = _Named(
        infos.rows, order, weakref.ref(past), weakref.ref(view.topology),
        identity, since, np.array(group, np.int64), copper,
    )  # fmt: skip
    _known[lanes] = found
    return found


def warmed(window: Window, warm_up: float) -> Floats:
    """Return a window's values without those of a module's first `warm_up` seconds ([s, k]).

    A module came when its port says something after its device was read twice without it.
    """
    said = np.isfinite(window.values)
    rows = np.flatnonzero(~said.all(axis=1))
    if window.values.shape[1] < 3 or not len(rows):
        return window.values
    said, at = said[rows], window.at[window.clock[rows]]
    missed = ~said & np.isfinite(at)
    gone = np.zeros_like(said)
    gone[:, 2:] = said[:, 2:] & missed[:, 1:-1] & missed[:, :-2]
    if not gone.any():
        return window.values
    came = np.where(gone, at, -np.inf).max(axis=1)
    cold = said & (at < (came + warm_up)[:, None]) & (came > -np.inf)[:, None]
    values = window.values.copy()
    values[rows] = np.where(cold, np.nan, values[rows])
    return values


def _identities(infos: Changes, past: Past, lanes: Roster) -> tuple[list[Identity], Floats]:
    """Return what each port's module says it is, and since when it may sit there ([port])."""
    identity = [Identity()] * len(lanes.ports)
    since = np.full(len(lanes.ports), -np.inf)
    newest = np.full(len(lanes.ports), -np.inf)
    if not len(infos.rows):
        return identity, since
    port = lanes.port[lanes.places(infos.table, OPTICS_INFO, infos.rows)]
    others = np.bincount(port, minlength=len(lanes.ports))
    place = {name: n for n, name in enumerate(OPTICS_INFO.labels)}
    for row in np.argsort(infos.seen_at, kind="stable").tolist():
        labels, number = infos.labels(row), int(port[row])
        found = Identity(**{name: labels[place[name]] for name in Identity.__annotations__})
        same = (found.vendor, found.serial) == (identity[number].vendor, identity[number].serial)
        identity[number] = found
        if not same and others[number] > 1 and newest[number] > -np.inf:
            since[number] = infos.first_at[row]
        newest[number] = infos.seen_at[row]
    return identity, np.maximum(since, _before_memory(past, identity, lanes))


def _before_memory(past: Past, identity: list[Identity], lanes: Roster) -> Floats:
    """Return the end of the last bin in which another module sat in each port ([port])."""
    since = np.full(len(lanes.ports), -np.inf)
    if not past.values.size:
        return since
    port = lanes.port[lanes.places(past.table, OPTICS_INFO, past.series)]
    several = np.flatnonzero(np.bincount(port, minlength=len(lanes.ports))[port] > 1)
    place = OPTICS_INFO.labels.index("serial")
    for row in several.tolist():
        number = int(port[row])
        bins = np.flatnonzero(np.isfinite(past.values[row]))
        if len(bins) and past.labels(row)[place] != identity[number].serial:
            since[number] = max(since[number], float(past.ends[bins[-1]]))
    return since


def _likeness(one: Identity, port: Port, topology: Topology) -> tuple[str, ...]:
    """Name the modules that should be alike: the same part, else the same sort of link."""
    if one.part:
        return (one.vendor, one.part)
    link = topology.link_of.get(port)
    if link is None:
        return ("", "", one.kind, one.media)
    return ("", "", one.kind, link.medium, link.technology, str(link.speed_gbps))


def _settled(view: View, lanes: Roster, warm_up: float) -> Bools:
    """Return which ports are neither down nor disabled nor just come up, at either end ([port])."""
    unsettled = np.zeros(len(lanes.ports), np.bool_)
    for metric in (UP, ADMIN_UP):
        states = view.changes(metric)
        young = states.changed_at > view.now - warm_up
        for row in np.flatnonzero((states.value == 0) | young).tolist():
            port = Port(*states.labels(row))
            for end in (port, view.topology.peer(port)):
                number = lanes.port_number(end) if end is not None else None
                if number is not None:
                    unsettled[number] = True
    return ~unsettled
