"""Coolant leaves a loop, fast or slowly.

Witnesses: a rope that stays wet; the reservoir's level, corrected for how much the coolant swells
with the loop's own temperature, so that a slow leak shows within hours; flow that goes out and does
not come back; pressure that decays; what is refilled. A rope wet for 90 s, a steady loss of level
beyond the limit, or a quarter of the reservoir gone at once from a loop that runs is enough alone;
the others must be two. Stays quiet on a rope that was wet for one poll (leak sensors blip for 40 to
70 s), on a level that swings with the day, on a little that was drained at once, on whatever was
drained while the loop stood still or people worked on it, and on a unit that starts again: its
level, pressure and temperature fall to 0 together, and are one witness.
"""

from collections.abc import Iterator

from pydantic import Field

from analyzer.evidence.cooling.baselines import STAYS
from analyzer.evidence.cooling.bursts import WHEN, bursts
from analyzer.evidence.cooling.loops import FLOW_BACK, METRICS, CoolingDetector, CoolingSettings
from analyzer.evidence.cooling.saying import moment
from analyzer.evidence.cooling.witnesses import (
    Limits,
    Witness,
    falling,
    flows,
    levels,
    pressures,
    refills,
    ropes,
)
from fabrichealth.catalogue.cooling import LEAK
from fabrichealth.kinds import COOLING_LEAK
from fabrichealth.model import Finding, Place, View
from fabrichealth.settings import Duration, seconds


class CoolingLeakSettings(CoolingSettings):
    """Cooling-leak section of the configuration."""

    every: Duration = seconds(0)
    """Water does not wait: it is judged at every pass."""

    wet: Duration = seconds(90)
    """A rope wet for so long is a leak; sensors blip for 40 to 70 s."""

    lost_liters: float = Field(default=0.8, gt=0)
    """So much steadily lost within six hours, or a day, is a leak (typical: 0.2 L/h over 6 h)."""

    fast_liters: float = Field(default=2.0, gt=0)
    """So much lost evenly within the window (10 min) is a leak."""

    short_liters_per_minute: float = Field(default=2.0, gt=0)
    """Flow that does not come back bears witness from here on."""

    short_ratio: float = Field(default=0.03, gt=0)
    """And from this share of the flow on: meters are good to 1 %."""

    pressure_ratio: float = Field(default=0.15, gt=0, lt=1)
    """Return pressure so far below its usual bears witness (an estimate of ours)."""

    refill_factor: float = Field(default=2.0, gt=1)
    """So many times the usual make-up of a day bears witness."""

    refill_liters: float = Field(default=1.0, gt=0)
    """And at least so much."""


class CoolingLeak(CoolingDetector[CoolingLeakSettings]):
    """Witnesses of one loop together; score 1.0 is what is enough."""

    kinds = (COOLING_LEAK,)
    metrics = (LEAK, *METRICS)
    settings_type = CoolingLeakSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each loop, or located branch, that loses coolant."""
        cooling, own = self.having(view, FLOW_BACK), self.settings
        limits = Limits(
            own.wet, own.lost_liters, own.fast_liters, own.short_liters_per_minute,
            own.short_ratio, own.pressure_ratio, own.refill_factor, own.refill_liters,
        )  # fmt: skip
        by_loop: dict[str, list[Witness]] = {}
        for tell in (ropes, levels, falling, flows, pressures, refills):
            for one in tell(cooling, limits):
                by_loop.setdefault(_loop_of(one.about), []).append(one)
        for one in bursts(cooling, limits, view.before):
            by_loop.setdefault(_loop_of(one.about), []).append(one)
        for loop, heard in by_loop.items():
            score = _score(heard)
            known = [old for old in view.before if _loop_of(old.about) == loop]
            if score >= (STAYS if known else 1.0):
                yield self._finding(view, loop, heard, score, known)

    def _finding(
        self, view: View, loop: str, heard: list[Witness], score: float, known: list[Finding]
    ) -> Finding:
        # a rope weighs more with every minute: of those that are enough alone the newest is news
        heard = sorted(heard, key=lambda one: (-min(one.weight, 1.0), -one.since))
        located = [one.about for one in heard if one.about.type == "branch"]
        here = {one.about for one in known if isinstance(one.about, Place)}
        about = next(iter(here), located[0] if located else Place("loop", loop))
        places = " and ".join(dict.fromkeys(str(one) for one in (*located, about)))
        several = len(set(located)) > 1
        where = f"{places} lose" if several else f"{about} loses"
        return Finding(
            kind=COOLING_LEAK,
            about=about,
            score=max(score, 1.0),
            since=min([one.since for one in heard] + [one.since for one in known]),
            at=max(one.evidence.at for one in heard),
            evidence=[one.evidence for one in heard][:8],
            because=f"{where} coolant: {'; '.join(one.says for one in heard[:3])}",
            grounds=_grounds(heard),
            witnesses=_witnesses(heard),
            detail={key: value for one in heard for key, value in one.detail.items()},
        )


def _loop_of(about: object) -> str:
    return about.id.partition("/")[0] if isinstance(about, Place) else ""


def _grounds(heard: list[Witness]) -> tuple[str, ...]:
    """Return the places where water is: ropes that are enough alone, and bursts.

    A burst is named with its moment: another one of the same loop is another ground.
    """
    enough = {one.kind for one in heard if one.weight >= 1.0}
    told = [
        f"burst {one.about} at {moment(one.detail[WHEN])}"
        if one.detail
        else f"rope {one.evidence.labels['zone'] or one.about}"
        for one in heard
        if (one.detail or one.kind == "rope") and (one.weight >= 1.0 or (one.detail and not enough))
    ]
    return tuple(sorted(set(told)))


def _witnesses(heard: list[Witness]) -> tuple[str, ...]:
    """Return what follows from any leak: levels and refills, or that several speak together."""
    rest = [one for one in heard if one.kind != "rope" and not one.detail]
    alone = sorted({f"{one.kind} {one.about}" for one in rest if one.weight >= 1.0})
    small = [one for one in heard if one.weight < 1.0]
    together = len({one.kind for one in small}) > 1 and _score(small) >= 1.0
    return (*alone, *(("several together",) if together else ()))


def _score(heard: list[Witness]) -> float:
    """Return the best witness alone, or two of different sorts together."""
    best: dict[str, float] = {}
    for one in heard:
        best[one.kind] = max(best.get(one.kind, 0.0), one.weight)
    weights = sorted(best.values(), reverse=True)
    return max(weights[0], sum(weights[:2]) if len(weights) > 1 else 0.0)
