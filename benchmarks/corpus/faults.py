"""Faults of one link: what each does to the cable, written from the table of optical signatures.

A fault begins at one moment, at one end or on the way, with a strength of 1 (can be seen), 2
(must be mended this week) or 3 (work is lost). Steps come at once, wear grows to the end.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.corpus.cable import DARK, Cable
from benchmarks.corpus.codes import Floats

NO_CURRENT = 1e-4


@dataclass(frozen=True)
class Case:
    """When, where and how bad: `end` is the ill part's, `lane` the first ill one."""

    began: float
    ended: float
    strength: int
    end: int
    lane: int
    chance: np.random.Generator

    def since(self, at: Floats) -> Floats:
        """Return [k] 1 from the beginning to the end, else 0."""
        return ((at >= self.began) & (at < self.ended)).astype(np.float64)

    def grown(self, at: Floats) -> Floats:
        """Return [k] how far wear has come, 0..1 at the end."""
        return np.clip((at - self.began) / (self.ended - self.began), 0.0, 1.0)

    def of(self, mild: float, plain: float, bad: float) -> float:
        """Return what belongs to the strength."""
        return (mild, plain, bad)[self.strength - 1]


def dirt(cable: Cable, case: Case) -> None:
    """Dirt before the receiver of `end`: all lanes of one direction lose light at once."""
    way = 1 - case.end
    each = case.of(2.6, 4.2, 6.0) * (1 + case.chance.normal(0, 0.06, (cable.loss.shape[1], 1)))
    cable.loss[way] += each * case.since(cable.at)


def bend(cable: Cable, case: Case) -> None:
    """A bent or crushed trunk: both directions lose light at once."""
    for way in (0, 1):
        lost = case.of(2.6, 4.2, 6.0) * (1 + case.chance.normal(0, 0.08))
        cable.loss[way] += lost * case.since(cable.at)


def ageing_laser(cable: Cable, case: Case) -> None:
    """One laser of `end` draws more and more; at its driver's limit its light falls."""
    grown = case.grown(cable.at)
    drawn = 1.0 + case.of(0.32, 0.55, 0.85) * grown**1.4
    limit = 1.45
    cable.bias[case.end, case.lane] *= np.minimum(drawn, limit)
    beyond = np.maximum(drawn / limit - 1.0, 0.0)
    cable.sent[case.end, case.lane] -= 25.0 * beyond


def dying_laser(cable: Cable, case: Case) -> None:
    """One laser of `end` fails within a poll: dim at full current, or dark without any."""
    on = case.since(cable.at)
    lane = (case.end, case.lane)
    if case.strength < 3:
        cable.bias[lane] *= 1.0 + 0.5 * on
        cable.sent[lane] -= case.of(4.0, 6.5, 0.0) * on
    else:
        cable.bias[lane] = np.where(on > 0, NO_CURRENT, cable.bias[lane])
        cable.sent[lane] = np.where(on > 0, DARK, cable.sent[lane])
        fall(cable, on)


def ageing_receiver(cable: Cable, case: Case) -> None:
    """The photodiode of `end` wears: light as ever, the signal sinks."""
    lanes = slice(case.lane, case.lane + 1)
    lost = case.of(1.8, 2.9, 4.6) * (1.3 if case.strength < 3 else 1.6)
    cable.penalty[1 - case.end, lanes] += lost * case.grown(cable.at)


def reflection(cable: Cable, case: Case) -> None:
    """Two reflecting connectors: light as ever, the signal comes and goes, errors in bursts."""
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * cable.at / 1700.0 + case.chance.uniform(0, 6))
    wave *= case.chance.uniform(0.3, 1.0, len(cable.at))
    on = case.since(cable.at)
    for lane in range(cable.noise.shape[1]):
        cable.noise[1 - case.end, lane] += case.of(0.006, 0.011, 0.02) * wave * on
    cable.bursts[1 - case.end] += case.of(0.002, 0.02, 0.2) * wave * on


def overheating(cable: Cable, case: Case) -> None:
    """The module of `end` gets hot: its laser draws more, and beyond a limit its eye closes."""
    hours = np.clip((cable.at - case.began) / 7200.0, 0.0, 1.0) * case.since(cable.at)
    kelvin = case.of(28.0, 34.0, 42.0) * hours
    cable.temperature[case.end] += kelvin
    cable.bias[case.end] *= np.exp(0.35 * kelvin / 75.0)


def host_electrical(cable: Cable, case: Case) -> None:
    """The lanes between the host of `end` and its module: media as ever, the host side ill."""
    wanted = case.of(0.3, 2.0, 6.0) * cable.technology.error
    if case.strength == 1:
        wanted = max(wanted, 1.5 * cable.technology.warning)
    wander = 10 ** case.chance.normal(0, 0.05, len(cable.at))
    cable.electrical[case.end] += wanted * wander * case.since(cable.at)


def signal_processor(cable: Cable, case: Case) -> None:
    """The module's processor (or its firmware): both of its sides are noisy, light as ever."""
    on = case.since(cable.at)
    cable.penalty[1 - case.end] += case.of(2.2, 3.2, 4.6) * on
    cable.electrical[case.end] += case.of(0.5, 1.2, 4.0) * cable.technology.error * on


def loose_module(cable: Cable, case: Case) -> None:
    """The module of `end` has poor contact: light jumps, retrains, and at worst it falls."""
    on = case.since(cable.at)
    polls = len(cable.at)
    shaken = (case.chance.random(polls) < case.of(0.15, 0.25, 0.35)) * on
    depth = case.of(2.5, 4.0, 6.0) * case.chance.uniform(0.4, 1.0, polls)
    cable.loss[1 - case.end] += depth * shaken
    cable.retrains[1 - case.end] += case.of(0.0, 2e-3, 5e-3) * shaken
    if case.strength == 3:
        cable.falls += (case.chance.random(polls) < 0.02) * on


def copper(cable: Cable, case: Case) -> None:
    """A copper cable or trace that is worn, bent or half plugged: both ways lose signal."""
    floor = case.of(2.6, 3.6, 5.0) - (0.8 if cable.technology.error <= 1e-6 else 0.0)
    for way in (0, 1):
        cable.loss[way] += floor * (1 + case.chance.normal(0, 0.08)) * case.since(cable.at)
    cable.retrains += case.of(0.0, 1e-3, 8e-3) * case.since(cable.at)


def flapping(cable: Cable, case: Case) -> None:
    """It falls for seconds and comes back: 3, 6 or 40 times an hour."""
    hourly = case.of(3.0, 6.0, 40.0)
    step = float(np.median(np.diff(cable.at)))
    cable.falls += case.chance.poisson(hourly * step / 3600.0, len(cable.at)) * case.since(cable.at)


def downgrade(cable: Cable, case: Case) -> None:
    """It retrained at half of its lanes and stays there."""
    on = case.since(cable.at)
    cable.width = np.where(on > 0, 0.5, cable.width)
    cable.falls += np.diff(on, prepend=0.0) > 0


def down(cable: Cable, case: Case) -> None:
    """It is gone."""
    fall(cable, case.since(cable.at))


def fall(cable: Cable, on: Floats) -> None:
    """Take a link down where `on` [k] is 1, counting its fall."""
    cable.falls += np.diff(on, prepend=0.0) > 0
    cable.up = np.where(on > 0, 0.0, cable.up)


@dataclass(frozen=True)
class Fault:
    """One row: what spoils, the kind when no limit of the link is crossed, cause and ill end."""

    spoil: Callable[[Cable, Case], None]
    kind: str
    cause: str | None
    side: str
    """near: the ill end itself; path: none."""
    on: tuple[str, ...]
    """Technologies that can have it."""
    days: float = 1.5
    wears: bool = False


LIT, ALL = ("roce", "ndr", "ub", "lpo"), ("roce", "ndr", "ub", "lpo", "aec", "dac", "nvlink")
TOLD = ("roce", "ndr", "ub")
FAULTS = {
    "dirt": Fault(dirt, "optics.degrading", "contaminated_connector", "near", LIT),
    "bend": Fault(bend, "optics.degrading", "damaged_fiber", "path", LIT),
    "ageing_laser": Fault(
        ageing_laser, "optics.degrading", "decaying_transmitter", "near", LIT, 16.0, wears=True
    ),
    "dying_laser": Fault(dying_laser, "optics.degrading", "decaying_transmitter", "near", LIT),
    "ageing_receiver": Fault(
        ageing_receiver, "optics.degrading", "degraded_receiver", "near", TOLD, 4.0, wears=True
    ),
    "reflection": Fault(reflection, "optics.degrading", "contaminated_connector", "path", TOLD),
    "overheating": Fault(overheating, "optics.overheating", "module_overheating", "near", LIT),
    "host_electrical": Fault(host_electrical, "link.subhealthy", "host_electrical", "near",
                             (*TOLD, "aec")),
    "signal_processor": Fault(signal_processor, "optics.degrading", "loose_or_bad_module", "near",
                              TOLD),
    "loose_module": Fault(loose_module, "optics.degrading", "loose_or_bad_module", "near", LIT),
    "copper": Fault(copper, "link.subhealthy", "copper_cable", "path", ("aec", "dac", "nvlink")),
    "flapping": Fault(flapping, "link.flapping", None, "path", ALL),
    "downgrade": Fault(downgrade, "link.degraded_speed", None, "path", ALL),
    "down": Fault(down, "link.down", None, "path", ALL),
}  # fmt: skip
"""Every fault by its name."""
