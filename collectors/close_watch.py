"""Close watch: which targets are read each second for a while, why, and at what price.

A target earns it by pauses that it told of itself, or by an incident that accuses a port of its
device. It keeps it until pauses have been over for a while (it begins at one threshold and ends
below a lower one, and eases off), never for too long at a stretch, and only within a budget of
targets and of visits. Whom the analyzer accuses goes before whom only pauses speak of, and among
these who pauses far more. One that does not answer has its own period: nobody is harmed by asking
a hung device more often.
"""

import logging
from collections.abc import Collection
from dataclasses import dataclass

from collectors.pause_shares import Paused, PauseShares
from collectors.source import Source
from fabrichealth.config import CloseWatch as CloseWatchSettings
from fabrichealth.model import Poll, SeriesTable

log = logging.getLogger(__name__)

LONG_AGO = float("-inf")

DAMPING = 0.3
"""Share by which one visit moves what visits to a target take."""

FAR_MORE = 2.0
"""So many times as much paused as another, a target takes its place."""

EASING, EASED = 3.0, 3
"""The pace falls threefold at a time, with so many visits at each. Whoever reads the series later
knows their period by the last few steps, and takes what is late by more than that for silent."""


@dataclass(slots=True)
class Watched:
    """One target, as far as watching it closely goes."""

    source: Source
    pace: float
    """Seconds from its last visit to the next."""
    stays: int = 0
    """So many visits more at this pace, on the way back to its own period."""
    since: float = LONG_AGO
    """When it was last begun to watch it closely (unix seconds)."""
    because: str = ""
    """What it is watched for, or would be if the budget allowed."""
    share: float = 0.0
    """Of the time that its worst queue was paused, at the worst visit of the last while."""
    worst: float = LONG_AGO
    """When that was."""
    paused: float = LONG_AGO
    """When a queue was last seen paused, for more than the threshold that counts then."""
    accused: float = LONG_AGO
    """When an incident last accused one of its ports."""
    rests: float = LONG_AGO
    """When it had been watched for long enough."""
    took: float = 0.0
    """Seconds that a visit takes; a running mean."""


class CloseWatch:
    """Decides for each target how soon it is visited again."""

    def __init__(self, table: SeriesTable, settings: CloseWatchSettings) -> None:
        self.settings = settings
        self.visits = 0
        """Visits made to targets while they were watched closely."""
        self._shares = PauseShares(table)
        self._table = table
        self._targets: dict[tuple[str, str], Watched] = {}
        self._close: dict[tuple[str, str], Watched] = {}
        self._waiting: set[tuple[str, str]] = set()
        self._usual = 0.0
        """Visits a second, were nobody watched closely."""

    def follow(self, source: Source) -> None:
        """Take a target up, at its own period."""
        self.forget(source)
        self._targets[_key(source)] = Watched(source, source.settings.period)
        self._usual += 1.0 / source.settings.period

    def forget(self, source: Source) -> None:
        """Let a target go."""
        one = self._targets.pop(_key(source), None)
        if one is not None:
            self._usual -= 1.0 / one.source.settings.period
            self._close.pop(_key(source), None)
            self._waiting.discard(_key(source))

    @property
    def close(self) -> list[Watched]:
        """The targets that are watched closely now."""
        return list(self._close.values())

    @property
    def waiting(self) -> int:
        """How many targets ask for it while the budget is spent."""
        return len(self._waiting)

    def accuse(self, devices: Collection[str], why: str, now: float) -> None:
        """Watch the targets of these devices, whose ports an incident accuses, from now on."""
        for one in self._targets.values():
            if one.source.target.subject in devices:
                one.accused, one.because = now, why
                self._settle(one, now)

    def answered(self, source: Source, poll: Poll, now: float, took: float) -> None:
        """Judge what a visit that ended at `now` and took so many seconds brought."""
        one = self._targets.get(_key(source))
        if one is None or source.closest is None:
            return
        worst = self._shares.worst(poll.batches)
        close = _key(source) in self._close
        one.took += DAMPING * (took - one.took) if one.took else took
        self.visits += close
        share = worst.share if worst is not None else 0.0
        if share >= one.share or not _within(one.worst, now, self.settings.quiet):
            one.share, one.worst = share, now
        if worst is not None and share > (self.settings.calm if close else self.settings.pause):
            one.paused = now
            if not self._accused(one, now):
                one.because = self._says(worst)
        self._settle(one, now)

    def failed(self, source: Source, now: float) -> None:
        """Take note that a target did not answer; it begins anew once it does."""
        one = self._targets.get(_key(source))
        if one is not None:
            one.paused = LONG_AGO
            one.pace, one.stays = source.settings.period, 0
            self._waiting.discard(_key(source))
            self._end(one, "it does not answer")

    def period(self, source: Source, now: float) -> float:
        """Return the seconds from a visit to a target to the next; asked once after each."""
        one = self._targets.get(_key(source))
        if one is None:
            return source.settings.period
        if _key(source) in self._close:
            self._settle(one, now)
        if _key(source) in self._close:
            one.pace, one.stays = self._closest(one), 0
        elif one.stays:
            one.stays -= 1
        elif source.closest is None:
            one.pace = source.settings.period
        elif one.pace < source.settings.period:
            one.pace, one.stays = min(EASING * one.pace, source.settings.period), EASED - 1
        return one.pace

    def _settle(self, one: Watched, now: float) -> None:
        """Begin or end watching a target closely, by what speaks for it now."""
        key, longest = _key(one.source), self.settings.longest
        speaks = _within(one.paused, now, self.settings.quiet) or self._accused(one, now)
        asks = speaks and self._extra(one) > 0
        if key in self._close:
            if not asks:
                self._end(one, "its visits take too long" if speaks else "it is quiet")
            elif not _within(one.since, now, longest):
                one.rests = now
                self._end(one, f"{longest:g} s at a stretch are enough")
            elif len(self._close) > 1 and self._spent() > self.settings.visits * self._usual:
                self._end(one, "visits are quicker than they were, so there are too many")
            return
        if not asks or _within(one.rests, now, longest):
            self._waiting.discard(key)
        elif self._fits(one) or self._gives_way(one, now):
            self._waiting.discard(key)
            self._close[key] = one
            one.since = now
            log.info("%s %s: watched closely: %s", *key, one.because)
        else:
            if not self._waiting:
                log.warning("%s %s: not watched closely, close_watch: allows no more; %s",
                            *key, one.because)  # fmt: skip
            self._waiting.add(key)

    def _end(self, one: Watched, why: str) -> None:
        if self._close.pop(_key(one.source), None) is not None:
            log.info("%s %s: watched closely no more: %s", *_key(one.source), why)

    def _fits(self, one: Watched, without: Watched | None = None) -> bool:
        """Return whether the budget allows one more, were another watched no more."""
        others = [other for other in self._close.values() if other is not without]
        if not others:
            return self.settings.targets > 0
        if len(others) >= int(self.settings.targets * len(self._targets)):
            return False
        extra = self._spent(without) + self._extra(one)
        return extra <= self.settings.visits * self._usual

    def _gives_way(self, one: Watched, now: float) -> bool:
        """Let the least paused make room for one that is accused, or paused far more.

        What is stopped by a storm is stopped for less of the time than what the storm comes from.
        """
        least = min(
            (other for other in self._close.values() if not self._accused(other, now)),
            key=lambda other: other.share,
            default=None,
        )
        if least is None or not self._fits(one, without=least):
            return False
        if not self._accused(one, now) and one.share < FAR_MORE * least.share:
            return False
        self._end(least, f"{one.source.target.name} is more urgent")
        return True

    def _accused(self, one: Watched, now: float) -> bool:
        return _within(one.accused, now, self.settings.incident)

    def _extra(self, one: Watched) -> float:
        """Return the visits a second that watching a target closely adds."""
        return 1.0 / self._closest(one) - 1.0 / one.source.settings.period

    def _spent(self, without: Watched | None = None) -> float:
        """Return the visits a second that all who are watched closely add."""
        return sum(self._extra(one) for one in self._close.values() if one is not without)

    def _closest(self, one: Watched) -> float:
        """Return the seconds between two visits to a target that is watched closely."""
        source, settings = one.source, self.settings
        if source.closest is None:
            return source.settings.period
        close = max(settings.period, source.closest, one.took / settings.busy)
        return min(source.settings.period, close)

    def _says(self, worst: Paused) -> str:
        metric, labels = self._table.metric(worst.series), self._table.labels(worst.series)
        priority = f" priority {labels[2]}" if len(labels) > 2 else ""
        port = f"{labels[0]}/{labels[1]}"
        return f"{port}{priority} paused {worst.share:.0%} of the time ({metric})"


def _within(when: float, now: float, seconds: float) -> bool:
    """Return whether `when` was less than so long ago; what lies ahead was, by a clock set back."""
    return 0 <= now - when < seconds


def _key(source: Source) -> tuple[str, str]:
    return source.target.source, source.target.name
