"""A link whose margin shrinks and will be used up within days.

What FEC repairs today is what it cannot repair next week. The margin between a link's errors
before FEC and its error limit is followed in dB over weeks (without any, that between the light
received and the module's own alarm); where it falls on a line whose slope
leaves no doubt, the day on which it reaches the limit is told with its 80 % interval. Stays quiet
where the interval of the slope spans zero, on pasts too short to know a daily cycle, on links
that are down, silent, or beyond their limit already (docs/methods.md, Forecasts).
"""

from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.causes.signs import Symptom, sign
from analyzer.evidence.link.forecast import Crossing, Proof, crossing
from analyzer.evidence.link.gathering import line_rates, port_states
from analyzer.evidence.link.margins import DAY, RECALLED, Margins, margins, shrinking
from analyzer.evidence.link.receivers import receivers
from analyzer.evidence.link.signs import diagnosed
from analyzer.evidence.optics.fleet import RECALLED as OF_LIGHT
from analyzer.evidence.testimony import evidence
from analyzer.verdicts import Verdict
from fabrichealth.catalogue.optics import RX_POWER, THRESHOLD
from fabrichealth.catalogue.ports import FEC_CORRECTED_BITS, SPEED, UP
from fabrichealth.catalogue.verdicts import SECONDS_TO_LIMIT
from fabrichealth.kinds import LINK_WILL_FAIL
from fabrichealth.model import Finding, Forecast, Labels, Place, Port, View
from fabrichealth.narrative import span
from fabrichealth.settings import Duration, seconds

SILENT = 7200.0
"""A past that ends earlier says nothing of tomorrow."""


NEWEST = 3
"""Half hours over which a margin is taken for what is left now."""


class LinkWillFailSettings(DetectorSettings):
    """Link-will-fail section of the configuration."""

    memory: Duration = seconds(86_400)
    """How far back the state of ports is remembered, and when the incident can have begun."""

    every: Duration = seconds(1800)
    """How often it judges: margins are kept by the half hour."""

    past: Duration = seconds(21 * 86_400)
    """Margins are followed over so long a past."""

    recent: Duration = seconds(3 * 86_400)
    """What began to fall within so long is looked for, besides what falls over the whole past."""

    horizon: Duration = seconds(14 * 86_400)
    """A limit that is likely to be reached only later than this is not told."""

    least_past: Duration = seconds(2 * 86_400)
    """With a shorter past a daily cycle would look like a trend."""

    quick_db: float = Field(default=1.5, gt=0)
    """But a margin that has lost so much is told of however short its past."""

    dwell: Duration = seconds(6 * 3600)
    """What was told stays told for so long though its slope is in doubt again, ..."""

    regained_db: float = Field(default=1.0, gt=0)
    """... unless the margin has become wider by so much."""


class LinkWillFail(Detector[LinkWillFailSettings]):
    """Days until the margin is used up; score 1.0 is a limit reached at the horizon."""

    kinds = (LINK_WILL_FAIL,)
    metrics = (FEC_CORRECTED_BITS, *(one for one in RECALLED if one is not FEC_CORRECTED_BITS),
               RX_POWER, UP, SPEED, THRESHOLD)  # fmt: skip
    remembers = (UP, SPEED, THRESHOLD)
    recalls = (*RECALLED, *OF_LIGHT)
    settings_type = LinkWillFailSettings

    @property
    def looks_back(self) -> float:
        """How long the past of errors must be kept."""
        return self.settings.past

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each receiving port whose margin will be used up."""
        soonest: dict[Port, _Falling] = {}
        looked = self._looked(view)
        for one in looked.falling:  # of several lanes the one that gets there first
            before = soonest.get(one.port)
            if before is None or one.found.p50 < before.found.p50:
                soonest[one.port] = one
        for one in soonest.values():
            yield _finding(view, one, self.settings)
        for earlier in view.before:
            if earlier.about not in soonest and self._holds(earlier, looked, view.now):
                yield replace(earlier, at=view.now)

    def _holds(self, earlier: Finding, looked: "_Looked", now: float) -> bool:
        """Return whether what was told before is only in doubt, and neither old nor mended."""
        left = looked.left.get(earlier.about)
        if left is None or now - earlier.detail.get("proven", -inf) > self.settings.dwell:
            return False
        return left < earlier.detail.get("left", -inf) + self.settings.regained_db

    def verdicts(self, view: View, kept: MutableMapping[str, list[float]]) -> Iterable[Verdict]:
        """Return the seconds to the limit of each link, by the end that gets there first."""
        soonest: dict[str, Crossing] = {}
        for one in self._looked(view).falling:
            link = view.topology.link_of.get(one.port)
            if link is not None:
                before = soonest.get(link.id)
                if before is None or one.found.p50 < before.p50:
                    soonest[link.id] = one.found
        for link_id, found in soonest.items():
            for quantile, days in (("0.1", found.p10), ("0.5", found.p50), ("0.9", found.p90)):
                yield Verdict(SECONDS_TO_LIMIT, (link_id, quantile), days * DAY)

    def coverage(self, view: View) -> float:
        """Return the share of ports with errors before FEC whose past is long enough."""
        long = total = 0
        for metric in RECALLED:
            past = view.past(metric)
            with np.errstate(invalid="ignore"):
                long += int((past.first_at <= view.now - self.settings.least_past).sum())
            total += len(past)
        return long / total if total else 0.0

    def _looked(self, view: View) -> "_Looked":
        key = (LinkWillFail, self.settings.model_dump_json(), view.topology)
        return view.once(key, lambda: self._look(view))

    def _look(self, view: View) -> "_Looked":
        own, looked = self.settings, _Looked()
        proof = Proof(own.least_past / DAY, own.quick_db)
        told = {one.about for one in view.before}
        table = view.changes(UP).table
        ends = receivers(table, view.topology)
        for metric in self.metrics:
            if metric is THRESHOLD:  # limits, sixteen and more to a port
                continue
            ends.places(table, metric, table.of(metric))
        down, _ = port_states(view, ends)
        earlier = [place for place, port in enumerate(ends.ports) if port in told] if told else []
        for one in margins(view, ends, line_rates(view, ends)):
            falling = shrinking(one, view.now, own.horizon, own.recent)
            before = np.flatnonzero(np.isin(one.places, earlier))
            for row in np.union1d(falling, before).tolist():
                place = int(one.places[row])
                port, values = ends.ports[place], one.values[row]
                known = np.flatnonzero(np.isfinite(values))
                if down[place] or one.at[known[-1]] < view.now - SILENT:
                    continue
                if port in told:
                    left = float(np.median(values[known[-NEWEST:]]))
                    looked.left[port] = min(left, looked.left.get(port, inf))
                found = crossing(one.at, values, view.now, proof)
                if found is None or found.p50 * DAY > own.horizon:
                    continue
                looked.falling.append(_Falling(port, one, row, found, float(one.at[known[-1]])))
        return looked


@dataclass(frozen=True, slots=True)
class _Falling:
    """A port whose margin falls."""

    port: Port
    margins: Margins
    row: int
    found: Crossing
    at: float

    @property
    def of_light(self) -> bool:
        """Whether it is the light received that falls, not errors that grow."""
        return self.margins.metric is RX_POWER

    def told(self, labels: Labels) -> str:
        """Return the margin in words."""
        limit, level = float(self.margins.limit[self.row]), self.found.level
        if self.of_light:
            return (
                f"light received on lane {labels[2]} is {level:.1f} dB above its module's own "
                f"limit of {limit:.1f} dBm and loses"
            )
        return f"errors before FEC are {level:.1f} dB from the limit of {limit:.2g} and lose"


@dataclass(frozen=True, slots=True)
class _Looked:
    """What falls, and the margin that those have left (dB) that were told before."""

    falling: list[_Falling] = field(default_factory=list)
    left: dict[Port | Place, float] = field(default_factory=dict)


def _finding(view: View, one: _Falling, own: LinkWillFailSettings) -> Finding:
    found, now = one.found, view.now
    before = [earlier.since for earlier in view.before if earlier.about == one.port]
    p10, p50, p90 = (now + days * DAY for days in (found.p10, found.p50, found.p90))
    metric, table = one.margins.metric, view.past(one.margins.metric).table
    labels = table.labels(int(one.margins.series[one.row]))
    says = (
        f"{one.told(labels)} {-found.per_day:.2g} dB a day ({-found.slowest:.2g} to "
        f"{-found.fastest:.2g} with 90 % confidence) since {span(now - found.began)}: "
        f"limit in {span(found.p50 * DAY)} ({span(found.p10 * DAY)} to {span(found.p90 * DAY)})"
    )
    grows = {} if one.of_light else {sign(Symptom.GROWING, one.port): True}
    diagnosis, signs = diagnosed(view, one.port, grows, found.began)
    return Finding(
        kind=LINK_WILL_FAIL,
        about=one.port,
        score=max(own.horizon / max(found.p50 * DAY, 1.0), 1.0),
        since=min([max(found.began, now - own.memory), *before]),
        at=now,  # its newest readings may be two hours old, what they say holds now
        evidence=[evidence(metric, labels, found.level, one.at, says, 0.0, "dB")],
        because=f"{one.port}: {says}",
        side=diagnosis.side,
        direction=diagnosis.direction,
        causes=diagnosis.causes,
        signs=signs,
        forecast=Forecast("limit_reached", p10, p50, p90),
        detail={"proven": now, "left": found.level},
    )
