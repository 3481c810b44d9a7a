"""Illness: which ends of links are ill now, by which symptom, and which of them are known at all.

A group test needs both: an end of which nothing is known is not a healthy one. A symptom accuses
what can bring it: light lost on the way the fibre, errors without any loss of light the sending
or receiving electronics, a worse signal under the same light the module. Milder than what is a
finding for one link alone counts here as well, as long as several members are ill for certain.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from analyzer.evidence.durations import Bools
from analyzer.evidence.link.gathering import REMEMBERED as OF_ERRORS
from analyzer.evidence.link.gathering import WINDOWED, Gathered, Look, gather
from analyzer.evidence.link.measures import CHECKSUMS, PREDICTED, RAW, RESENDS, RETRAINS
from analyzer.evidence.link.peers import odd
from analyzer.evidence.link.receivers import Places
from analyzer.evidence.parts.belonging import Belonging, belonging
from analyzer.evidence.parts.shifts import QUANTITIES, Shift, shifts
from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.model import View

REMEMBERED = (*OF_ERRORS, ADMIN_UP, OPTICS_INFO)
RECALLED = tuple(dict.fromkeys(one.metric for one in QUANTITIES))
METRICS = (*OF_ERRORS, *WINDOWED, ADMIN_UP, OPTICS_INFO, *RECALLED)
"""What a detector that asks for illness must list: to remember, to recall, to look at."""

WINDOW, MEMORY = 720.0, 7500.0
"""As the errors of single links are looked at, so that they are gathered once a pass for all."""

ERRORS = Look(
    WINDOW, WINDOW, MEMORY, 60.0, 60.0,
    ((CHECKSUMS.name, (1e-13, 1e-12)), (RETRAINS.name, (1 / 3600, 1 / 60)),
     (RESENDS.name, (1.0, 1000.0))),
)  # fmt: skip

DEVIATIONS = 6.0
MILD_DB, CLEAR_DB = 1.0, 2.0
MILD_SIGNAL_DB, CLEAR_SIGNAL_DB = 1.0, 1.5
"""dB below its own past from which light, or signal, is ill among others; and ill for certain."""

CROWD, CROWDED = 3, 0.02
"""So many links that err in one part, and so seldom by chance, are worth a look at their light."""

LOOK_EVERY = 300.0
"""Light alone is looked at so often: modules are read once a minute and ail for hours."""


@dataclass(frozen=True, eq=False)
class Illness:
    """Symptoms of every unit; arrays are [u], a unit is one end of one link."""

    own: Belonging
    known: Gathered
    shifts: Mapping[str, Shift]
    heard: Bools
    """Its errors, or its module, are known."""
    lit: Bools
    """Its link's light or signal is known."""
    dim: Bools
    """It receives less light than it did, and the far end sends as ever."""
    faint: Bools
    """It sends less light than it did."""
    noisy: Bools
    """Its signal is worse under the same light."""
    host: Bools
    """The signal from its own host is worse."""
    errors: Bools
    """It counts errors beyond limits or peers."""
    down: Bools
    """Its link is down while both devices live."""
    mute: Bools
    """It does not speak of its state, while its device does of others."""
    dimmed: Bools
    """Light or signal into it was worse within the window: that explains errors counted in it."""
    sure: Bools
    """Ill for certain, whatever others are."""
    beyond: Bools
    """Beyond the error limit: work is lost now."""

    @property
    def loose(self) -> Bools:
        """Errors that nothing in light or signal explains ([u])."""
        return np.asarray(self.errors & ~self.dimmed, np.bool_)

    @property
    def any(self) -> Bools:
        """Which units are ill in any way ([u])."""
        return self.dim | self.faint | self.noisy | self.host | self.errors | self.down


def illness(view: View) -> Illness:
    """Return who is ill; worked out once a pass for all who ask."""
    ailing = bool(view.before)
    span = view[RAW.metric].seconds  # of windows, as whoever asks has set it
    return view.once((illness, view.topology, ailing, span), lambda: _illness(view, ailing))


def _illness(view: View, ailing: bool) -> Illness:
    known = gather(view, ERRORS)
    own = belonging(view.changes(UP).table, view.topology, known.ends)
    units, size = own.units("receivers", known.ends.ports), len(own)
    errors, sure, beyond, heard = (np.zeros(size, bool) for _ in range(4))
    proven = np.zeros(len(known.ends), bool)
    for one in known.readings:
        ill = one.ill & ~known.down
        proven |= ill
        _mark(errors, units, ill)
        _mark(sure, units, ill)
        _mark(heard, units, one.known & ~known.down)
        if one.measure is not PREDICTED:
            with np.errstate(invalid="ignore"):
                _mark(beyond, units, ill & (one.lower > one.bands.page))
    raw = next(one for one in known.readings if one.measure is RAW)
    _mark(errors, units, odd(raw, known.ends, proven) & ~known.down)
    light = shifts(view, own) if ailing or _crowded(own, errors, heard) or _turn(view) else {}
    fallen = {name: one.fallen(mild(name), DEVIATIONS) for name, one in light.items()}
    clear = {name: one.fallen(_clear(name), DEVIATIONS) for name, one in light.items()}
    nothing = np.zeros(size, bool)
    rx, tx, media, host = (fallen.get(one.name, nothing) for one in QUANTITIES)
    dim = rx & ~tx[own.peer]
    low = {name: one.lowest <= -mild(name) for name, one in light.items()}
    low_rx, low_tx, low_media, low_host = (low.get(one.name, nothing) for one in QUANTITIES)
    dimmed = low_rx | low_media | low_tx[own.peer] | low_host[own.peer]
    lit = np.zeros(size, bool)
    for name, shift in light.items():
        lit |= np.isfinite(shift.change)
        sure |= clear[name]
    down = _down(known, own, units)
    return Illness(
        own, known, light,
        heard=heard | lit | down, lit=lit | lit[own.peer], dim=dim, faint=tx, noisy=media & ~rx,
        host=host, errors=errors, down=down, mute=_mute(known, own, units), dimmed=dimmed,
        sure=sure | down, beyond=beyond | down,
    )  # fmt: skip


def mild(name: str) -> float:
    """Return from how many dB on a quantity is ill among others that are."""
    return MILD_SIGNAL_DB if name.startswith("snr") else MILD_DB


def _clear(name: str) -> float:
    return CLEAR_SIGNAL_DB if name.startswith("snr") else CLEAR_DB


def _crowded(own: Belonging, errors: Bools, heard: Bools) -> bool:
    """Return whether links that err crowd in any part, so that light must say which part it is."""
    links = errors | errors[own.peer]
    usual = float(links.sum()) / max(float(heard.sum()), 1.0)
    for name in ("bundle", "card", "device", "lot"):
        code = own.written[name]
        mine = code >= 0
        size = len(own.names[name].names)
        hits = np.bincount(code[mine & links], minlength=size)
        many = np.flatnonzero(hits >= CROWD)
        members = np.maximum(np.bincount(code[mine], minlength=size)[many], hits[many])
        by_chance = np.asarray(binom.sf(hits[many] - 1, members, usual), np.float64)
        if (by_chance < CROWDED).any():
            return True
    return False


def _turn(view: View) -> bool:
    """Return whether it is time to look at light though no link errs; slow histories always."""
    period = view.changes(UP).period
    known = period[np.isfinite(period)]
    often = float(np.median(known)) if len(known) else LOOK_EVERY
    return view.now % LOOK_EVERY < max(60.0, 2 * often)


def _mark(flags: Bools, units: Places, on: Bools) -> None:
    """Set the flags of the units of some ports."""
    places = units[on]
    flags[places[places >= 0]] = True


def _mute(known: Gathered, own: Belonging, units: Places) -> Bools:
    """Return which units say nothing of their state though their device does of others."""
    speaks = np.zeros(len(own), bool)
    _mark(speaks, units, ~known.unheard)
    device = own.written["device"]
    lives = np.bincount(device[speaks], minlength=len(own.names["device"].names)) > 0
    return np.asarray(~speaks & lives[device], np.bool_)


def _down(known: Gathered, own: Belonging, units: Places) -> Bools:
    """Return which units' links are down, unless a whole device is, or somebody disabled them."""
    size = len(own)
    down, fell, off = (np.zeros(size, bool) for _ in range(3))
    _mark(down, units, known.down & ~known.unheard)
    admin = known.view.changes(ADMIN_UP)
    places = known.ends.places(admin.table, ADMIN_UP, admin.rows)
    units = own.units("receivers", known.ends.ports)  # it may have met more of them now
    _mark(off, units[places], admin.value == 0)
    states = known.view.changes(UP)
    with np.errstate(invalid="ignore"):  # two polls down, and it was up before
        twice = (states.value == 0) & (states.seen_at > states.changed_at)
    _mark(fell, units[known.ends.places(states.table, UP, states.rows)], twice)
    gone = (down | down[own.peer]) & (fell | fell[own.peer]) & ~(off | off[own.peer])
    device = own.written["device"]
    links = np.bincount(device, minlength=len(own.names["device"].names))
    lost = np.bincount(device[down | down[own.peer]], minlength=len(links))
    dark = (lost == links)[device]
    return np.asarray(gone & ~(dark | dark[own.peer]), np.bool_)
