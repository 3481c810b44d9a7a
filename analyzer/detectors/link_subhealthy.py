"""A link that is up but loses, repairs or repeats data beyond what its technology allows.

Errors before FEC, after FEC and after retry are judged as ratios to the bits that the line
carried, uncorrectable codewords to all codewords, retrains and replays as rates; each with its
exact interval, widened where errors come in bursts. A link is ill when even the lower bound is
beyond the limit of its technology, speed, code and medium; with too few bits nothing is said.
Stays quiet in the warm-up after a link came up, over resets and on counters that are full, for a
link that is down, and in idleness, where there is no error to count (docs/methods.md, Bit errors).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.causes.signs import Symptom, sign
from analyzer.evidence.link.full_counters import blinded, full
from analyzer.evidence.link.gathering import (
    REMEMBERED,
    WINDOWED,
    WORDS,
    WRONG_SYMBOLS,
    Gathered,
    Look,
    gather,
)
from analyzer.evidence.link.margins import RECALLED as OF_ERRORS
from analyzer.evidence.link.measures import (
    CHECKSUMS,
    PREDICTED,
    RAW,
    RESENDS,
    RETRAINS,
    SELDOM,
    SYMBOLS,
    Reading,
)
from analyzer.evidence.link.reporting import link_verdicts
from analyzer.evidence.link.rhythm import LAST, SILENCE, TIMES, Rhythm, goes_on, kept, rhythm
from analyzer.evidence.link.signs import BEGAN, began, diagnosed, error_signs
from analyzer.evidence.link.states import Kept, standings
from analyzer.evidence.optics.fleet import RECALLED
from analyzer.evidence.optics.recalled import LOOKS_BACK
from analyzer.evidence.testimony import evidence
from analyzer.verdicts import Verdict
from fabrichealth.catalogue.ports import FEC_CODEWORDS, SYMBOL_ERRORS
from fabrichealth.kinds import LINK_SUBHEALTHY, Severity
from fabrichealth.model import Evidence, Finding, Port, View
from fabrichealth.narrative import span
from fabrichealth.settings import Duration, seconds


class LinkSubhealthySettings(DetectorSettings):
    """Link-subhealthy section of the configuration."""

    window: Duration = seconds(720)
    """Errors before FEC are counted over so long: they come by the thousand."""

    memory: Duration = seconds(7500)
    """The long window: 125 minutes show a symbol error ratio of 1e-15 at 400 Gb/s."""

    short: Duration = seconds(720)
    """The short window: 12 minutes show 1e-14 at 400 Gb/s."""

    warm_up: Duration = seconds(60)
    """Errors of so long after a link came up belong to its training."""

    dwell: Duration = seconds(1440)
    """A link must have been well for so long, two short windows, before its state says so."""

    symbol_error_ratio: float | None = Field(default=None, gt=0)
    """Error limit of errors left after FEC and retry, per bit; none: by technology."""

    symbol_warning_ratio: float | None = Field(default=None, gt=0)
    """Warning limit of the same; none: half of the error limit."""

    crc_error_ratio: float = Field(default=1e-12, gt=0)
    """Error limit of frames or flits with a wrong checksum, per bit; warning is a tenth."""

    recoveries_warning: float = Field(default=1 / 3600, gt=0)
    """Retrains per second that are a ticket; a healthy fleet has none."""

    recoveries_error: float = Field(default=1 / 60, gt=0)
    """Retrains per second that page: each one stalls the link."""

    replays_warning: float = Field(default=1.0, gt=0)
    """Link-level retransmissions per second that are a ticket."""

    replays_error: float = Field(default=1000.0, gt=0)
    """Link-level retransmissions per second that page."""

    def look(self) -> Look:
        """Return how the errors of links are to be looked at."""
        own = {
            CHECKSUMS.name: (self.crc_error_ratio / 10, self.crc_error_ratio),
            RETRAINS.name: (self.recoveries_warning, self.recoveries_error),
            RESENDS.name: (self.replays_warning, self.replays_error),
        }
        error = self.symbol_error_ratio or 2 * (self.symbol_warning_ratio or 0.0)
        if error:
            own[SYMBOLS.name] = (self.symbol_warning_ratio or error / 2, error)
        return Look(
            self.window, self.short, self.memory, self.warm_up, self.hold, tuple(own.items())
        )


class LinkSubhealthy(Detector[LinkSubhealthySettings]):
    """Lower bounds of error ratios and rates against their limits; score 1.0 is the warning."""

    kinds = (LINK_SUBHEALTHY,)
    metrics = (
        SYMBOL_ERRORS,
        *(one for one in (*REMEMBERED, *WINDOWED) if one is not SYMBOL_ERRORS),
    )
    remembers = REMEMBERED
    recalls = (*RECALLED, *OF_ERRORS)
    settings_type = LinkSubhealthySettings

    @property
    def looks_back(self) -> float:
        """How long the past of the modules must be kept: light speaks for causes."""
        return LOOKS_BACK

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each receiving port that is ill, with all that is wrong there."""
        known = gather(view, self.settings.look())
        ill: dict[int, list[Reading]] = defaultdict(list)
        for one in known.readings:
            for place in np.flatnonzero(one.ill & ~known.down).tolist():
                ill[place].append(one)
        for place in _again_in_one_poll(known):
            ill[place].append(known.spans[RAW.name][0])
        for place in sorted(ill):
            yield _finding(known, place, ill[place], ill.keys())
        said = {known.ends.ports[place] for place in ill}
        for before in view.before:
            if before.about not in said and (still := _still(known, before)) is not None:
                yield still

    def verdicts(self, view: View, kept: Kept) -> Iterable[Verdict]:
        """Return state, health and time to a verdict of every link and of its receiving ends."""
        known = gather(view, self.settings.look())
        return link_verdicts(known, standings(known, kept, self.settings.dwell))

    def coverage(self, view: View) -> float:
        """Return the share of ports with limits of which enough was heard to say something."""
        known = gather(view, self.settings.look())
        decided = np.zeros(len(known.ends), bool)
        judged = np.zeros(len(known.ends), bool)
        for one in known.readings:
            judged |= np.isfinite(one.bands.warning)
            decided |= one.known & (one.seconds >= self.settings.min_coverage * known.look.short)
        return float(decided[judged].mean()) if judged.any() else 0.0


def _still(known: Gathered, before: Finding) -> Finding | None:
    place = known.ends.find(before.about) if isinstance(before.about, Port) else None
    settled = -np.inf if place is None else float(known.training.settled[place])
    return goes_on(known.view, before) or blinded(known.view, before, settled)


@dataclass(frozen=True, slots=True)
class _Line:
    """What is said of one measure of one port."""

    since: float
    until: float
    score: float
    severity: Severity
    evidence: Evidence


def _finding(
    known: Gathered, place: int, every: Sequence[Reading], others: Collection[int]
) -> Finding:
    port = known.ends.ports[place]
    lines = sorted(
        (_line(known, place, one) for one in every),
        key=lambda line: (-line.severity, -line.score),
    )
    worst = lines[0]
    since = min(line.since for line in lines)
    start = began(known.view, port, since)
    before = next((one for one in known.view.before if one.about == port), None)
    until = max(line.until for line in lines)
    beat, last = kept(before, _beat(known, place), until, known.view.now)
    seen = error_signs(known, place, others)
    if beat.silence:
        seen[sign(Symptom.COMES_AND_GOES, port)] = True
    found, signs = diagnosed(known.view, port, seen, start)
    returns = f"; it comes and goes, {beat.times} times within a day" if beat.silence else ""
    return Finding(
        kind=LINK_SUBHEALTHY,
        about=port,
        score=worst.score,
        since=since,
        at=known.view.now if known.view.now - last < beat.silence else until,
        evidence=[line.evidence for line in lines],
        because=f"{port}: {worst.evidence.says}{returns}",
        side=found.side,
        direction=found.direction,
        severity=worst.severity,
        causes=found.causes,
        signs=signs,
        detail={BEGAN: start, LAST: last, SILENCE: beat.silence, TIMES: beat.times},
    )


def _beat(known: Gathered, place: int) -> Rhythm:
    """Return the rhythm of a port's errors before FEC."""
    stretch = known.stretches[RAW.name].get(place)
    again = stretch.since if stretch is not None and stretch.after_quiet else None
    line, limit = known.bits_per_second[place], known.spans[RAW.name][0].bands.warning[place]
    return rhythm(known.view, known.ends, place, float(line), float(limit), again)


def _again_in_one_poll(known: Gathered) -> Iterator[int]:
    """Yield ports that err in a single poll, which is no proof, and did so before."""
    for place, stretch in known.stretches[RAW.name].items():
        if stretch.once and not known.down[place] and _beat(known, place).silence:
            yield place


def _line(known: Gathered, place: int, one: Reading) -> _Line:
    """Return what one measure says of one port, with its time and its gravity."""
    port, band = known.ends.ports[place], one.bands
    lower, rate = float(one.lower[place]), float(one.rate[place])
    page = lower > float(band.page[place]) and one.measure is not PREDICTED
    beyond = lower > float(band.error[place])
    limit = float(band.error[place] if beyond else band.warning[place])
    since, until = _when(known, place, one)
    built = known.ends.built(place).limits
    guess = " (provisional)" if built and built.provisional and one.measure.quantity else ""
    says = f"{_told(known, place, one)}, limit {limit:.2g}{guess}"
    raw = (*WORDS, FEC_CODEWORDS)[int(known.raw_metric[place])]
    metric = raw if one.measure is RAW else one.measure.metric
    labels = (*port, "") if metric is FEC_CODEWORDS else tuple(port)
    return _Line(
        since,
        until,
        lower / float(band.warning[place]),
        Severity.PAGE if page else Severity.TICKET,
        evidence(metric, labels, rate, until, says, limit, one.measure.unit),
    )


def _told(known: Gathered, place: int, one: Reading) -> str:
    """Return the estimate in words: what was counted or reported, over how long, how sure."""
    rate, lower, unit = float(one.rate[place]), float(one.lower[place]), one.measure.unit
    if one.measure is PREDICTED:
        tail = known.tails[place]
        words = known.bits_per_second[place] / known.ends.word_bits[place]
        apart = tail.seconds_to_loss(float(words))
        pace = f"one in {span(apart)}" if apart >= 1.0 else f"{1 / apart:.2g} a second"
        return (
            f"a codeword in {1 / max(rate, 1e-300):.2g} will be lost, {pace}, "
            f"as {tail.codewords:.2g} codewords show "
            f"({tail.estimator.replace('_', ' ')}{', in bursts' if tail.bursts else ''})"
        )
    if one.measure.reported:
        return f"{one.measure.words} {rate:.2g} {unit} as the device reports, at least {lower:.2g}"
    words = one.measure.words
    if one.measure is RAW:
        words = (*WORDS.values(), WRONG_SYMBOLS)[int(known.raw_metric[place])]
        stretch = known.stretches[RAW.name].get(place)
        words += ", in bursts" if stretch is not None and stretch.bursts else ""
    return (
        f"{one.events[place]:.4g} {words} in {one.seconds[place] / 60:.0f} min: {rate:.2g} {unit}, "
        f"at least {lower:.2g} with 95 % confidence"
    )


def _when(known: Gathered, place: int, one: Reading) -> tuple[float, float]:
    """Return the first and the last moment at which one measure of a port was wrong."""
    stretch = known.stretches.get(one.measure.name, {}).get(place)
    if stretch is not None:
        return stretch.since, stretch.until
    if one.measure not in SELDOM:
        return known.view.now - float(one.seconds[place]), known.view.now
    changes = known.view.changes(one.measure.metric)
    port: Port = known.ends.ports[place]
    row = changes.row(*port)
    if row is None:
        return known.view.now, known.view.now
    _, long = known.spans[one.measure.name]
    seen = known.look.long if one.seconds[place] == long.seconds[place] else known.look.short
    mine = np.flatnonzero((changes.row_of == row) & changes.last(seen) & (changes.increase > 0))
    if not len(mine):
        return float(changes.first_at[row]), float(changes.seen_at[row])
    last = float(changes.at[mine[-1]])
    contradicted = changes.seen_at[row] > last and not full(changes)[row]  # a later poll: no error
    return float(changes.at[mine[0]]), last if contradicted else max(changes.until, last)
