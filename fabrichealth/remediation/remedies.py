"""Remedies: which orders are given, at which pace, and when they are taken back.

An order is given once its incident may be acted on safely, and taken back once the incident is
over. What stands is kept in `state:` before anybody is asked, so that a restart neither forgets to
return a node to service nor drains it twice. Who gives no answer may have drained all the same: the
order counts as one that stands. A dry run goes through all of this in words.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from fabrichealth.errors import FabricHealthError
from fabrichealth.remediation.order import Candidate, Order
from fabrichealth.remediation.remediator import AnyRemediator, LeftAlone, NoAnswer
from fabrichealth.runtime.peer import PeerError

log = logging.getLogger("remedies")

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Standing:
    """An order that was given and not taken back."""

    remediator: str
    order: Order
    at: float
    dry_run: bool
    sure: bool = True
    """Whether it was said to be done; what is not is asked again."""


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
        """Give and take back; `alive` are the incidents that are not over.

        One remediator that hangs or fails delays no other.
        """
        every = list(candidates)
        visits = (self._visit(one, every, alive) for one in self._remediators)
        for wrong in await asyncio.gather(*visits, return_exceptions=True):
            if isinstance(wrong, Exception):
                log.error("a remediator failed; tried again", exc_info=wrong)

    async def _visit(
        self, remediator: AnyRemediator, every: Sequence[Candidate], alive: Collection[str]
    ) -> None:
        well = True
        for one in list(self._standing.values()):
            if one.remediator == remediator.name and one.order.incident not in alive:
                well &= await self._undo(remediator, one)
        kinds = remediator.settings.kinds
        for candidate in every:
            if not kinds or candidate.kind in kinds:
                for order in remediator.orders(candidate):
                    well &= await self._give(remediator, order)
        (self.failing.discard if well else self.failing.add)(remediator.name)

    async def _give(self, remediator: AnyRemediator, order: Order) -> bool:
        """Give an order that does not stand yet; return whether its remediator is well."""
        place, dry = (remediator.name, order.key), remediator.settings.dry_run
        known = self._standing.get(place)
        if known is not None and (dry or (known.sure and not known.dry_run)):
            return True
        asked = known is not None and not known.dry_run
        if not asked and (waits := self._waits(remediator, place)):
            self._trouble(remediator, order, f"waits: {waits}")
            return True
        one = known if known is not None and asked else self._begun(remediator, order, dry)
        if dry:
            log.info("dry run, would: %s", remediator.says(one.order))
        else:
            try:
                await remediator.apply(one.order)
            except FabricHealthError as wrong:
                return self._not_given(remediator, place, wrong)
            log.warning("done, since %s: %s", order.safe_because, remediator.says(one.order))
        self._stand(place, replace(one, sure=True))
        self._troubles.pop(f"{place}", None)
        return True

    def _begun(self, remediator: AnyRemediator, order: Order, dry: bool) -> Standing:
        """Keep that an order is about to be given: who is ended meanwhile must know it after."""
        now = self._now()
        one = Standing(remediator.name, replace(order, at=now), now, dry, sure=False)
        self._given.append((remediator.name, now))
        if not dry:
            self._stand((remediator.name, order.key), one)
        return one

    def _not_given(
        self, remediator: AnyRemediator, place: tuple[str, str], wrong: FabricHealthError
    ) -> bool:
        """Say why; what was refused stands no more, what nobody answered may have been done."""
        one = self._standing[place]
        if not _no_answer(wrong):
            with contextlib.suppress(ValueError):  # it is older than an hour
                self._given.remove((one.remediator, one.at))
            self._stand(place, None)
        alone = isinstance(wrong, LeftAlone)
        self._trouble(
            remediator, one.order, f"{wrong}" if alone else f"not done, tried again: {wrong}"
        )
        return alone

    async def _undo(self, remediator: AnyRemediator, one: Standing) -> bool:
        """Take an order back; return whether its remediator is well."""
        place = one.remediator, one.order.key
        if one.dry_run:
            log.info("dry run, would: %s", remediator.says_undo(one.order))
        elif remediator.settings.dry_run:
            words = f"stands until dry_run is off again; then: {remediator.says_undo(one.order)}"
            self._trouble(remediator, one.order, words)
            return True
        elif also := self._shared(one):
            log.warning("%s is over; %s stays out for %s", one.order.incident, one.order.node,
                        also.order.incident)  # fmt: skip
        else:
            try:
                await remediator.undo(one.order)
            except FabricHealthError as wrong:
                self._trouble(remediator, one.order, f"not taken back, tried again: {wrong}")
                return False
            log.warning("taken back, its incident is over: %s", remediator.says_undo(one.order))
        self._stand(place, None)
        self._troubles.pop(f"{place}", None)
        return True

    def _shared(self, over: Standing) -> Standing | None:
        """Return another order that keeps the same host out."""
        mine = (over.remediator, over.order.node, False)
        for one in self._standing.values():
            if one is not over and (one.remediator, one.order.node, one.dry_run) == mine:
                return one if one.order.node else None
        return None

    def _waits(self, remediator: AnyRemediator, place: tuple[str, str]) -> str:
        """Return why no more may be asked of a remediator now; nothing if it may."""
        settings, name, now = remediator.settings, remediator.name, self._now()
        self._given = [(who, at) for who, at in self._given if at > now - HOUR]
        stand = sum(one[0] == name for one in self._standing if one != place)
        if stand >= settings.most_at_once:
            return f"most_at_once {settings.most_at_once} stand"
        if sum(who == name for who, _ in self._given) >= settings.most_per_hour:
            return f"most_per_hour {settings.most_per_hour} were given"
        return ""

    def _stand(self, place: tuple[str, str], one: Standing | None) -> None:
        """Keep how an order stands now; None where it does no more."""
        if one is None:
            self._standing.pop(place, None)
        else:
            self._standing[place] = one
        self._save()

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
            Standing(row["remediator"], Order(**row["order"]), row["at"], row["dry_run"],
                     row.get("sure", True))
            for row in rows
        ]  # fmt: skip
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as wrong:
        log.error("%s: cannot be read (%s); what we drained is not known, return it by hand",
                  path, wrong)  # fmt: skip
        return []


def _no_answer(wrong: FabricHealthError) -> bool:
    """Return whether what failed may have been done: nothing answered, or a server broke at it."""
    if isinstance(wrong, PeerError):
        return not 300 <= wrong.status < 500
    return isinstance(wrong, NoAnswer)
