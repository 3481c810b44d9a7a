"""Witnesses: what an ill end of a link shows, in words, and since when."""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.link.gathering import WORDS, Gathered
from analyzer.evidence.link.measures import PREDICTED, RAW, SELDOM, Reading
from analyzer.evidence.parts.illness import DEVIATIONS, Illness, mild
from analyzer.evidence.parts.shifts import QUANTITIES
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import FEC_CODEWORDS, UP
from fabrichealth.model import Evidence

SAID = {
    "rx_power": "light received", "tx_power": "light sent", "snr_media": "SNR of the receiver",
    "snr_host": "SNR of the host side",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Witness:
    """One thing that is wrong with one unit; `weight` orders them, the gravest is highest."""

    weight: float
    since: float
    evidence: Evidence


def witnesses(ill: Illness, unit: int) -> list[Witness]:
    """Return all that is wrong with a unit, the gravest first."""
    found = [*_light(ill, unit), *_down(ill, unit)]
    place = ill.known.ends.find(ill.own.ports[unit])
    if place is not None and ill.errors[unit]:
        proven = [one for one in ill.known.readings if one.ill[place]]
        raw = [one for one in ill.known.readings if one.measure is RAW and one.known[place]]
        found += [_count(ill.known, place, one) for one in proven or raw]
    return sorted(found, key=lambda one: (-one.weight, one.evidence.says))


def _light(ill: Illness, unit: int) -> list[Witness]:
    found = []
    port = ill.own.ports[unit]
    for one in QUANTITIES:
        shift = ill.shifts.get(one.name)
        if shift is None or not shift.fallen(mild(one.name), DEVIATIONS)[unit]:
            continue
        row = shift.worst(unit)
        since = np.nan if row is None else shift.since(row, mild(one.name))
        if row is None or not np.isfinite(since):
            continue
        value, usual = float(shift.window.last[row]), float(shift.usual[row])
        labels = shift.window.labels(row)
        says = (
            f"{port} lane {labels[2]}: {SAID[one.name]} {value:.1f} {one.metric.unit.value} is "
            f"{usual - value:.1f} dB below its usual {usual:.1f}"
        )
        at = float(shift.window.last_at[row])
        line = evidence(one.metric, labels, value, at, says, usual)
        found.append(Witness((usual - value) / mild(one.name), float(since), line))
    return found


def _down(ill: Illness, unit: int) -> list[Witness]:
    changes = ill.known.view.changes(UP)
    row = changes.row(*ill.own.ports[unit])
    if not ill.down[unit] or row is None or changes.value[row] != 0:
        return []
    at, since = float(changes.seen_at[row]), float(changes.changed_at[row])
    says = f"{ill.own.ports[unit]} is down"
    line = evidence(UP, changes.labels(row), 0.0, at, says, 1.0)
    return [Witness(np.inf, since if np.isfinite(since) else at, line)]


def _count(known: Gathered, place: int, one: Reading) -> Witness:
    """Return what one measure of a port says; its `since` is that of the unbroken stretch."""
    port, rate = known.ends.ports[place], float(one.rate[place])
    limit = float(one.bands.warning[place])
    metric = one.measure.metric
    if one.measure is RAW:
        metric = (*WORDS, FEC_CODEWORDS)[int(known.raw_metric[place])]
    since, until = _when(known, place, one)
    words = "codewords that will be lost" if one.measure is PREDICTED else one.measure.words
    says = f"{port}: {words} at {rate:.2g} {one.measure.unit}, limit {limit:.2g}"
    labels = (*port, "") if metric is FEC_CODEWORDS else tuple(port)
    line = evidence(metric, labels, rate, until, says, limit, one.measure.unit)
    return Witness(float(one.lower[place]) / limit, since, line)


def _when(known: Gathered, place: int, one: Reading) -> tuple[float, float]:
    now = known.view.now
    stretch = known.stretches.get(one.measure.name, {}).get(place)
    if stretch is not None:
        return stretch.since, stretch.until
    if one.measure not in SELDOM:
        return now - float(one.seconds[place]), now
    changes = known.view.changes(one.measure.metric)
    row = changes.row(*known.ends.ports[place])
    if row is None:
        return now, now
    mine = np.flatnonzero(
        (changes.row_of == row) & changes.last(float(one.seconds[place])) & (changes.increase > 0)
    )
    first = float(changes.at[mine[0]]) if len(mine) else float(changes.first_at[row])
    return first, float(changes.seen_at[row])
