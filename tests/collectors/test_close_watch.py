"""Who is watched closely, when it ends, and what it may cost."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from collectors.inventory import Inventory
from collectors.poller import Poller
from collectors.source import Source, SourceSettings, Target
from fabrichealth.catalogue.congestion import PFC_TX_PAUSE
from fabrichealth.config import CloseWatch as CloseWatchSettings
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Batch, Poll, SeriesTable
from fabrichealth.topology import Topology
from tests.fast_time import ORIGIN, FastClock, lived

Duty = Callable[[float], float]
"""Share of the time for which a port pauses, by seconds since the beginning."""

CALM: Duty = lambda _: 0.0  # noqa: E731 - the name says it


def between(start: float, end: float, duty: float = 0.3) -> Duty:
    """Return a port that pauses for a share of the time from start to end."""
    return lambda now: duty if start <= now < end else 0.0


class Switch(Source):
    """A switch with one port, whose pauses the test says."""

    metrics = (PFC_TX_PAUSE,)
    closest: float | None = 1.0

    def __init__(self, target: Target, table: SeriesTable, period: float, duty: Duty) -> None:
        super().__init__(SourceSettings(period=period, timeout=3.0), target, table)
        self.duty = duty
        self.takes = 0.0
        self.hangs: tuple[float, float] = (np.inf, np.inf)
        """From when until when it does not answer."""
        self.visits: list[float] = []
        self._series = table.intern_all([(PFC_TX_PAUSE, (target.subject, "Ethernet0", "3"))])
        self._paused, self._last = 0.0, ORIGIN

    async def read(self, at: float) -> Poll:
        self.visits.append(at - ORIGIN)
        if self.hangs[0] <= at - ORIGIN < self.hangs[1]:
            await asyncio.sleep(1e6)
        await asyncio.sleep(self.takes)
        self._paused += self.duty(at - ORIGIN) * (at - self._last)
        self._last = at
        return Poll([Batch(self.clock, at, self._series, np.array([self._paused]))])

    def captured(self, files: list[Path], at: float) -> Poll:
        raise SourceUnavailable("it has no captures")

    def gaps(self, start: float, end: float) -> list[float]:
        """Return the seconds between its visits within a span."""
        within = [at for at in self.visits if start <= at <= end]
        return [round(later - one, 6) for one, later in pairwise(within)]


class Page(Switch):
    """Told by somebody who looks only now and then himself."""

    closest = None


@dataclass
class Room:
    """A poller of switches."""

    settings: CloseWatchSettings = field(default_factory=CloseWatchSettings)
    table: SeriesTable = field(default_factory=SeriesTable)
    clock: FastClock = field(default_factory=FastClock)

    def __post_init__(self) -> None:
        inventory = Inventory(self.table, Topology())
        self.poller = Poller(
            self.table, self.clock, inventory, lambda *_: None, close_watch=self.settings
        )

    def switch(self, name: str, duty: Duty = CALM, period: float = 10.0) -> Switch:
        return Switch(Target(name, "emulated"), self.table, period, duty)

    async def follow(
        self, sources: list[Switch], seconds: float, *then: tuple[float, Callable[[], None]]
    ) -> None:
        """Follow for so long; each of `then` is done once so many seconds have passed."""
        await self.poller.follow(sources)
        for when, act in then:
            await self.clock.until(ORIGIN + when)
            act()
        await self.clock.until(ORIGIN + seconds)
        await self.poller.stop()

    def accuse(self, device: str) -> Callable[[], None]:
        """Return what accuses a device's port now."""
        return lambda: self.poller.closely.accuse({device}, "i1 pfc.storm", self.clock.now())


def settings(**given: float) -> CloseWatchSettings:
    return CloseWatchSettings.model_validate(
        {key: f"{value:g}s" if key in DURATIONS else value for key, value in given.items()}
    )


DURATIONS = {"period", "quiet", "incident", "longest"}


def test_a_storm_raises_the_rate_of_its_target_and_of_no_other() -> None:
    room = Room()
    ill, well = room.switch("ill", between(100, 200)), room.switch("well")
    lived(room.follow([ill, well], 500))
    assert set(ill.gaps(0, 100)) == {10.0}
    assert set(ill.gaps(125, 195)) == {1.0}
    assert set(well.gaps(0, 500)) == {10.0}


def test_it_falls_back_only_after_quiet_time() -> None:
    room = Room(settings(quiet=30))
    ill = room.switch("ill", between(100, 200))
    lived(room.follow([ill], 400))
    assert set(ill.gaps(200, 228)) == {1.0}
    assert set(ill.gaps(280, 400)) == {10.0}


@pytest.mark.parametrize("period", [2.0, 10.0, 30.0, 300.0])
def test_it_eases_off_so_that_no_poll_is_late_by_what_the_last_ones_were(period: float) -> None:
    """A series is silent if it is older than 3.5 of its periods, the median of five steps."""
    room = Room(settings(quiet=20, longest=10_000))
    ill = room.switch("ill", between(2 * period, 3 * period + 60), period)
    lived(room.follow([ill], 20 * period + 600))
    gaps = ill.gaps(0, np.inf)
    assert (gaps[0], min(gaps), gaps[-1]) == (period, 1.0, period)
    for place in range(gaps.index(1.0) + 5, len(gaps)):
        assert gaps[place] <= 3.5 * np.median(gaps[place - 5 : place])


def test_what_begins_at_one_threshold_ends_below_a_lower_one() -> None:
    room = Room(settings(pause=0.01, calm=0.002, quiet=20))
    lingering: Duty = lambda now: 0.02 if 100 <= now < 150 else 0.005  # noqa: E731
    fades, never = room.switch("fades", lingering), room.switch("never", lambda _: 0.005)
    lived(room.follow([fades, never], 400))
    assert set(fades.gaps(150, 400)) == {1.0}
    assert set(never.gaps(0, 400)) == {10.0}


def test_pauses_that_come_and_go_are_watched_without_a_break() -> None:
    room = Room(settings(quiet=30))
    choppy = room.switch("choppy", lambda now: 0.5 if now % 20 < 5 else 0.0, period=5.0)
    lived(room.follow([choppy], 600))
    assert set(choppy.gaps(40, 590)) == {1.0}


def test_only_a_share_of_the_targets_is_watched_at_a_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    room = Room(settings(targets=0.05, visits=10))
    sources = [room.switch(str(n), between(0, 1000)) for n in range(100)]

    def looks() -> None:
        assert len(room.poller.closely.close) == 5
        assert room.poller.closely.waiting == 95

    with caplog.at_level(logging.WARNING):
        lived(room.follow(sources, 200, (100, looks)))
    assert sum(len(one.visits) > 50 for one in sources) == 5
    assert all(len(one.visits) >= 19 for one in sources)
    (line,) = caplog.messages  # however many ask
    assert "not watched closely, close_watch: allows no more" in line


@pytest.mark.parametrize(("share", "many"), [(0.0, 1), (0.5, 2), (1.0, 5)])
def test_the_visits_that_it_adds_are_bounded(share: float, many: int) -> None:
    """Fifty targets are five visits a second; each that is watched closely adds 0.9."""
    room = Room(settings(targets=1.0, visits=share))
    sources = [room.switch(str(n), between(0, 1000)) for n in range(50)]
    lived(room.follow(sources, 100))
    assert sum(1.0 in one.gaps(50, 100) for one in sources) == many
    assert sum(set(one.gaps(50, 100)) == {10.0} for one in sources) == 50 - many


def test_one_target_always_may_unless_nobody_shall() -> None:
    for allowed, gap in ((0.01, 1.0), (0.0, 10.0)):
        room = Room(settings(targets=allowed, visits=0))
        ill = room.switch("ill", between(0, 1000))
        lived(room.follow([ill], 100))
        assert set(ill.gaps(30, 100)) == {gap}


def test_nobody_is_watched_for_longer_than_is_enough() -> None:
    room = Room(settings(longest=60, quiet=10))
    ill = room.switch("ill", between(0, 10_000))
    lived(room.follow([ill], 1000))
    close = sum(gap == 1.0 for gap in ill.gaps(0, 1000))
    assert 0.4 * 1000 < close < 0.55 * 1000  # a minute of each two


def test_a_target_that_takes_long_is_not_kept_busy() -> None:
    room = Room(settings(busy=0.5))
    slow = room.switch("slow", between(0, 1000))
    slow.takes = 2.0
    lived(room.follow([slow], 200))
    assert set(slow.gaps(50, 200)) == {4.0}


def test_what_tells_nothing_more_is_not_read_more_often() -> None:
    room = Room()
    page = Page(Target("page", "emulated"), room.table, 10.0, between(0, 1000))
    fast = room.switch("fast", between(0, 1000), 1.0)
    lived(room.follow([page, fast], 100))
    assert set(page.gaps(0, 100)) == {10.0}
    assert set(fast.gaps(0, 100)) == {1.0}
    assert room.poller.closely.visits == 0


def test_a_target_that_hangs_while_watched_closely_delays_no_other() -> None:
    """It has a slot as others have; the second time that it hangs it is known to."""
    room = Room()
    ill, well = room.switch("ill", between(0, 1000)), room.switch("well", between(0, 1000))
    other = room.switch("other")
    ill.hangs = (100, 300)
    lived(room.follow([ill, well, other], 500))
    assert set(other.gaps(0, 500)) == {10.0}
    assert min(ill.gaps(104, 290)) >= 10.0  # not asked more often for being watched
    # its place went to the one that waited, and is not taken from it again
    assert set(well.gaps(120, 500)) == {1.0}


def test_whom_an_incident_accuses_is_watched_for_a_while_though_nothing_pauses() -> None:
    room = Room(settings(incident=100))
    one, other = room.switch("leaf-01"), room.switch("leaf-02")
    lived(room.follow([one, other], 400, (100, room.accuse("leaf-01"))))
    assert set(one.gaps(111, 195)) == {1.0}
    assert set(one.gaps(250, 400)) == {10.0}
    assert set(other.gaps(0, 400)) == {10.0}


def test_whom_an_incident_accuses_goes_before_the_least_paused() -> None:
    room = Room(settings(targets=0.5, visits=10))
    worse, least = (
        room.switch("worse", between(0, 1e3, 0.8)),
        room.switch("l", between(0, 1e3, 0.1)),
    )
    accused, idle = room.switch("leaf-01"), room.switch("idle")
    lived(room.follow([worse, least, accused, idle], 300, (100, room.accuse("leaf-01"))))
    assert set(least.gaps(50, 95)) == {1.0}
    assert set(accused.gaps(115, 290)) == {1.0}
    assert set(worse.gaps(50, 290)) == {1.0}
    assert set(least.gaps(150, 290)) == {10.0}


def test_who_pauses_far_more_goes_before_who_asked_first() -> None:
    """Whoever waits for the origin of a storm is stopped for less of the time than it stops."""
    room = Room()
    victim = room.switch("victim", between(0, 1e3, 0.1))
    origin, alike = room.switch("origin", between(100, 1e3, 0.9)), room.switch("alike")
    alike.duty = between(0, 1e3, 0.15)
    lived(room.follow([victim, origin, alike], 300))
    assert 1.0 in victim.gaps(0, 100) + alike.gaps(0, 100)
    assert set(origin.gaps(130, 290)) == {1.0}
    assert {gap for one in (victim, alike) for gap in one.gaps(170, 290)} == {10.0}


def test_a_storm_that_takes_breaks_keeps_its_place() -> None:
    room = Room()
    choppy = room.switch("choppy", lambda now: 0.8 if now % 10 < 5 else 0.0, period=5.0)
    other = room.switch("other", between(50, 1e3, 0.3))
    lived(room.follow([choppy, other], 300))
    assert set(choppy.gaps(40, 290)) == {1.0}
    assert set(other.gaps(0, 290)) == {10.0}


@pytest.mark.parametrize("jump", [-7200.0, 7200.0], ids=["back", "forwards"])
def test_a_wall_clock_that_is_set_leaves_nobody_watched_for_hours(jump: float) -> None:
    room = Room(settings(quiet=30, longest=300))
    ill = room.switch("ill", between(50, 150))

    def sets() -> None:
        room.clock.offset = jump

    async def life() -> int:
        await room.poller.follow([ill])
        await asyncio.sleep(100)
        sets()
        await asyncio.sleep(900)
        before = len(ill.visits)
        await asyncio.sleep(200)
        await room.poller.stop()
        return len(ill.visits) - before

    assert lived(life()) == 20


def test_a_target_that_goes_leaves_its_place_to_others() -> None:
    room = Room()
    first = room.switch("first", between(0, 1000))
    second = room.switch("second", between(60, 1000))

    async def life() -> None:
        await room.poller.follow([first, second])
        await asyncio.sleep(100)
        assert [one.source for one in room.poller.closely.close] == [first]
        await room.poller.follow([second])
        await asyncio.sleep(30)
        assert [one.source for one in room.poller.closely.close] == [second]
        await room.poller.stop()
        assert room.poller.closely.close == []
        assert room.poller.closely.waiting == 0

    lived(life())
