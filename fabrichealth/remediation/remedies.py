"""Remedies: which orders are given, at which pace, and when they are taken back.

An order is given once its incident may be acted on safely, and taken back once the incident is
over. What stands is kept in `state:`, so that a restart neither forgets to return a node to service
nor drains it twice. A dry run goes through all of this in words.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from fabrichealth.errors import FabricHealthError
from fabrichealth.remediation.order import Candidate, Order
from fabrichealth.remediation.remediator import AnyRemediator, LeftAlone

log = logging.getLogger("remedies")

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Standing:
    """An order that was given and not taken back."""

    remediator: str
    order: Order
    at: float
    dry_run: bool


class Told(NamedTuple):
    """A remediator as the daemon's watchers see it."""

    name: str
    up: bool


class Remedies:
    """Gives orders to remediators and takes them back."""

    def __init__(
        self, remediators: Sequence[AnyRemediator], path: Path, now: Callable[[], float]
    ) -> None:
        self._remediators = remediators
        self._path = path
        self._now = now
        self._standing = {(one.remediator, one.order.key): one for one in _read(path)}
        self._given: list[tuple[str, float]] = [
            (one.remediator, one.at) for one in self._standing.values()
        ]
        """Who was given an order, and when, in the last hour."""
        self._troubles: dict[str, str] = {}
        """What was said last of an order that waits or failed."""
        self.failing: set[str] = set()
        """Remediators that failed last."""
        names = {one.name for one in remediators}
        for one in self._standing.values():
            if one.remediator not in names:
                log.warning("%s of %s stands, and the site file has no such remediator any more; "
                            "return it by hand", one.order.key, one.remediator)  # fmt: skip

    @property
    def receivers(self) -> list[Told]:
        """Who is asked, and whether each did what it was asked last."""
        return [Told(one.name, one.name not in self.failing) for one in self._remediators]

    @property
    def standing(self) -> list[dict[str, Any]]:
        """What stands, oldest first, as JSON."""
        return [asdict(one) for one in sorted(self._standing.values(), key=lambda one: one.at)]

    async def step(self, candidates: Iterable[Candidate], alive: Collection[str]) -> None:
        """Give and take back; `alive` are the incidents that are open and not suppressed."""
        known, every = dict(self._standing), list(candidates)
        for remediator in self._remediators:
            self.failing.discard(remediator.name)
            for one in known.values():
                if one.remediator == remediator.name and one.order.incident not in alive:
                    await self._undo(remediator, one)
            kinds = remediator.settings.kinds
            for candidate in every:
                if not kinds or candidate.kind in kinds:
                    for order in remediator.orders(candidate):
                        await self._give(remediator, order)
        if self._standing != known:
            self._save()

    async def _give(self, remediator: AnyRemediator, order: Order) -> None:
        place = remediator.name, order.key
        if place in self._standing:
            return
        if waits := self._waits(remediator):
            self._trouble(remediator, order, f"waits: {waits}")
            return
        dry = remediator.settings.dry_run
        if dry:
            log.info("dry run, would: %s", remediator.says(order))
        else:
            try:
                await remediator.apply(order)
            except LeftAlone as wrong:
                self._trouble(remediator, order, str(wrong))
                return
            except FabricHealthError as wrong:
                self.failing.add(remediator.name)
                self._trouble(remediator, order, f"not done, tried again: {wrong}")
                return
            log.warning("done, since %s: %s", order.safe_because, remediator.says(order))
        now = self._now()
        self._given.append((remediator.name, now))
        self._standing[place] = Standing(remediator.name, order, now, dry)
        self._troubles.pop(f"{place}", None)

    async def _undo(self, remediator: AnyRemediator, one: Standing) -> None:
        place = one.remediator, one.order.key
        if one.dry_run:
            log.info("dry run, would: %s", remediator.says_undo(one.order))
        elif remediator.settings.dry_run:
            words = f"stands until dry_run is off again; then: {remediator.says_undo(one.order)}"
            self._trouble(remediator, one.order, words)
            return
        else:
            try:
                await remediator.undo(one.order)
            except FabricHealthError as wrong:
                self.failing.add(remediator.name)
                self._trouble(remediator, one.order, f"not taken back, tried again: {wrong}")
                return
            log.warning("taken back, its incident is over: %s", remediator.says_undo(one.order))
        del self._standing[place]
        self._troubles.pop(f"{place}", None)

    def _waits(self, remediator: AnyRemediator) -> str:
        """Return why no more may be asked of a remediator now; nothing if it may."""
        settings, name, now = remediator.settings, remediator.name, self._now()
        self._given = [(who, at) for who, at in self._given if at > now - HOUR]
        if sum(who == name for who, _ in self._standing) >= settings.most_at_once:
            return f"most_at_once {settings.most_at_once} stand"
        if sum(who == name for who, _ in self._given) >= settings.most_per_hour:
            return f"most_per_hour {settings.most_per_hour} were given"
        return ""

    def _trouble(self, remediator: AnyRemediator, order: Order, words: str) -> None:
        """Say once what keeps an order from being given or taken back."""
        place = f"{(remediator.name, order.key)}"
        if self._troubles.get(place) != words:
            log.warning("%s %s: %s", remediator.name, order.key, words)
        self._troubles[place] = words

    def _save(self) -> None:
        draft = self._path.with_suffix(".draft")
        try:
            draft.write_bytes(orjson.dumps(self.standing))
            draft.replace(self._path)
        except OSError as wrong:
            log.error("%s: cannot be written (%s); check state:", draft, wrong.strerror)


def _read(path: Path) -> list[Standing]:
    """Return what stood when it was written; a file that cannot be read is said, not trusted."""
    try:
        rows = orjson.loads(path.read_bytes())
        return [
            Standing(row["remediator"], Order(**row["order"]), row["at"], row["dry_run"])
            for row in rows
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as wrong:
        log.error("%s: cannot be read (%s); what we drained is not known, return it by hand",
                  path, wrong)  # fmt: skip
        return []
