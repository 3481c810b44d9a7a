"""The poller: on time for everybody, whatever one of them does."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from collectors.inventory import Inventory
from collectors.poller import LONGEST_BACKOFF, PATIENCE, Poller
from collectors.source import Source, SourceSettings, Target
from fabrichealth.catalogue.devices import DEVICE_UP
from fabrichealth.catalogue.ports import UP
from fabrichealth.catalogue.watchers import (
    LAST_SUCCESS,
    PARTIAL,
    POLL_SECONDS,
    READINGS,
    REJECTED,
    SOURCE_UP,
)
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Poll, SeriesTable
from fabrichealth.topology import Topology
from tests.fast_time import ORIGIN, FastClock, lived

Answer = Callable[["Emulated", float], Awaitable[Poll]]


class Emulated(Source):
    """A target that does what the test says."""

    metrics = (UP,)

    def __init__(self, settings: SourceSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self.behave: Answer = well
        self.visits: list[float] = []
        self.closed = 0
        self.series = table.intern_all([(UP, (target.subject, "1"))])

    async def read(self, at: float) -> Poll:
        self.visits.append(at)
        return await self.behave(self, at)

    def captured(self, files: list[Path], at: float) -> Poll:
        raise SourceUnavailable("it has no captures")

    async def close(self) -> None:
        self.closed += 1

    def poll(self, at: float, value: float = 1.0) -> Poll:
        """Return one reading."""
        return Poll([Batch(self.clock, at, self.series, np.array([value]))])


async def well(source: Emulated, at: float) -> Poll:
    return source.poll(at)


async def hangs(source: Emulated, at: float) -> Poll:
    await asyncio.get_running_loop().create_future()
    return source.poll(at)


async def refuses(source: Emulated, at: float) -> Poll:
    raise SourceUnavailable(f"{source.target.name}: connection refused")


def raises(wrong: BaseException) -> Answer:
    async def answer(source: Emulated, at: float) -> Poll:
        raise wrong

    return answer


@dataclass
class Room:
    """A poller whose readings are kept."""

    limit: int = 512
    table: SeriesTable = field(default_factory=SeriesTable)
    topology: Topology = field(default_factory=Topology)
    clock: FastClock = field(default_factory=FastClock)
    told: list[Batch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.poller = Poller(
            self.table, self.clock, Inventory(self.table, self.topology), self.take, self.limit
        )

    def take(self, batches: list[Batch], events: list[Event]) -> None:
        self.told.extend(batches)

    def source(
        self, name: str, answer: Answer = well, period: float = 10.0, timeout: float = 3.0,
        device: str = "",
    ) -> Emulated:  # fmt: skip
        settings = SourceSettings(period=period, timeout=timeout)
        target = Target(name, "emulated", device=device, topology=self.topology)
        made = Emulated(settings, target, self.table)
        made.behave = answer
        return made

    async def follow(self, sources: list[Emulated], seconds: float) -> None:
        """Follow for so long, then stop."""
        await self.poller.follow(sources)
        await asyncio.sleep(seconds)
        await self.poller.stop()

    def values(self, metric: Metric, *labels: str) -> dict[float, float]:
        """Return a series' values by time since the beginning."""
        number = self.table.find(metric, labels)
        return {
            batch.at - ORIGIN: float(value)
            for batch in self.told
            for series, value in zip(batch.series, batch.values, strict=True)
            if series == number
        }


def steps(source: Emulated) -> list[float]:
    return np.diff(source.visits).round(6).tolist()


@pytest.mark.parametrize(
    ("ill", "limit"), [(20, 512), (20, 50), (60, 50)], ids=["room", "little room", "no room"]
)
def test_targets_that_hang_delay_no_other(ill: int, limit: int) -> None:
    room = Room(limit=limit)
    good = [room.source(f"good-{n}") for n in range(140)]
    bad = [room.source(f"bad-{n}", hangs) for n in range(ill)]
    lived(room.follow([*good, *bad], 300))
    for one in good:
        # once those that hang are known, every visit comes when it is due
        settled = [at for at in one.visits if at > ORIGIN + 20]
        assert np.allclose(np.diff(settled), 10.0)
        assert len(one.visits) >= 29
    assert all(value == 0.0 for value in room.values(SOURCE_UP, "emulated", "bad-0").values())


def test_known_to_hang_they_have_few_slots_of_their_own_and_take_none_of_the_others() -> None:
    """Thirty that hang for 3 s want 9 slots all the time, and there are five."""
    room = Room(limit=5)
    good = [room.source(f"good-{n}") for n in range(30)]
    bad = [room.source(f"bad-{n}", hangs) for n in range(30)]
    lived(room.follow([*good, *bad], 60))
    for one in good:
        settled = [at for at in one.visits if at > ORIGIN + 20]
        assert np.allclose(np.diff(settled), 10.0)


def test_first_visits_are_spread_over_a_period() -> None:
    room = Room()
    sources = [room.source(str(n)) for n in range(200)]
    lived(room.follow(sources, 10))
    first = np.array([one.visits[0] - ORIGIN for one in sources])
    counts, _ = np.histogram(first, bins=5, range=(0, 10))
    assert first.min() >= 0
    assert counts.min() > 20


def test_nobody_waits_an_hour_for_a_first_visit() -> None:
    room = Room()
    sources = [room.source(str(n), period=3600.0) for n in range(50)]
    lived(room.follow(sources, 61))
    assert room.poller.targets == []
    assert all(len(one.visits) == 1 for one in sources)


def test_a_target_that_does_not_answer_is_down_and_its_reason_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    room = Room()
    with caplog.at_level(logging.INFO):
        lived(room.follow([room.source("t", hangs)], 200))
    up = room.values(SOURCE_UP, "emulated", "t")
    assert set(up.values()) == {0.0}
    assert set(room.values(POLL_SECONDS, "emulated", "t").values()) == {3.0}
    assert room.values(LAST_SUCCESS, "emulated", "t") == {}
    assert room.values(PARTIAL, "emulated", "t") == {}
    (record,) = caplog.records
    assert "emulated t: no answer within 3 s" in record.getMessage()


def test_a_failing_target_is_visited_less_and_less_often_but_never_given_up() -> None:
    room = Room()
    source = room.source("t", refuses, period=1.0)
    lived(room.follow([source], 1000))
    gaps = steps(source)
    assert gaps[:PATIENCE] == [1.0] * PATIENCE
    for number, gap in enumerate(gaps[PATIENCE:], start=1):
        wanted = min(2.0**number, LONGEST_BACKOFF)
        assert 0.9 * wanted <= gap <= 1.1 * wanted
    assert len({round(gap, 3) for gap in gaps[-5:]}) > 1  # they do not come in step


def test_a_slow_period_is_not_shortened_by_failing() -> None:
    room = Room()
    source = room.source("t", refuses, period=600.0)
    lived(room.follow([source], 6000))
    assert all(540 <= gap <= 660 for gap in steps(source))


def test_nobody_is_waited_for_beyond_a_first_visit_and_its_time_out() -> None:
    room = Room(limit=1)

    async def stubborn(source: Emulated, at: float) -> Poll:
        for _ in range(60):  # it holds the only slot for two minutes, and cannot be stopped
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(2.0)
        return source.poll(at)

    async def waited() -> list[int]:
        await room.poller.follow([room.source("stuck", stubborn), room.source("behind")])
        found = [room.poller.unvisited]
        for _ in range(3):
            await asyncio.sleep(4.6)
            found.append(room.poller.unvisited)
        await room.poller.stop()
        return found

    found = lived(waited())
    assert (found[0], found[-1]) == (2, 0)  # a phase of 10 s at most, and 3 s of time-out


def test_targets_that_a_reload_brings_take_no_readiness_back() -> None:
    room = Room()

    async def waited() -> list[int]:
        await room.poller.follow([room.source("first")])
        found = [room.poller.unvisited]
        await asyncio.sleep(15)
        found.append(room.poller.unvisited)
        await room.poller.follow([room.source("first"), room.source("second")])
        found.append(room.poller.unvisited)
        await room.poller.stop()
        return found

    assert lived(waited()) == [1, 0, 0]


def test_a_target_that_comes_back_is_told_of_and_polled_as_before(
    caplog: pytest.LogCaptureFixture,
) -> None:
    room = Room()

    async def at_last(source: Emulated, at: float) -> Poll:
        return await (well if len(source.visits) > 8 else refuses)(source, at)

    source = room.source("t", at_last, period=5.0)
    with caplog.at_level(logging.INFO):
        lived(room.follow([source], 400))
    assert steps(source)[-5:] == [5.0] * 5
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "answers again after 8 failures" in caplog.records[1].getMessage()
    up = list(room.values(SOURCE_UP, "emulated", "t").values())
    assert up == sorted(up)


def test_another_reason_is_another_line(caplog: pytest.LogCaptureFixture) -> None:
    room = Room()

    async def changing(source: Emulated, at: float) -> Poll:
        raise SourceUnavailable("t: asleep" if len(source.visits) < 5 else "t: broken")

    lived(room.follow([room.source("t", changing)], 300))
    assert [record.getMessage() for record in caplog.records] == [
        "emulated t: asleep",
        "emulated t: broken",
    ]


async def nothing(source: Emulated, at: float) -> Poll:
    return None  # type: ignore[return-value]  # that is the fault


async def nobodys(source: Emulated, at: float) -> Poll:
    return Poll([Batch(source.clock, at, np.array([10_000], np.int32), np.ones(1))])


async def uneven(source: Emulated, at: float) -> Poll:
    return Poll([Batch(source.clock, at, source.series, np.ones(3))])


FAULTS: dict[str, Answer] = {
    "an error of its own": raises(ZeroDivisionError("division\nby zero")),
    "a malformed reply": raises(MalformedReply("t: half a page")),
    "a lost task": raises(asyncio.CancelledError()),
    "nothing at all": nothing,
    "a series of nobody": nobodys,
    "columns of two lengths": uneven,
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_of_a_source_costs_its_visits_only(
    fault: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    room = Room()
    bad, good = room.source("bad", fault), room.source("good")
    lived(room.follow([bad, good], 100))
    assert len(bad.visits) > PATIENCE
    assert len(good.visits) == 10
    assert set(room.values(SOURCE_UP, "emulated", "bad").values()) == {0.0}
    assert room.values(UP, "bad", "1") == {}
    (record,) = caplog.records
    assert "\n" not in record.getMessage()
    assert record.getMessage().startswith("emulated bad: ") or "t: half" in record.getMessage()


@pytest.mark.parametrize("where", ["close watch", "sink", "close"])
def test_a_fault_after_the_visit_costs_no_target(
    where: str, caplog: pytest.LogCaptureFixture
) -> None:
    room = Room()
    bad, good = room.source("bad"), room.source("good")

    def fails(*_: object) -> None:
        raise RuntimeError("no")

    async def fails_late(*_: object) -> None:
        raise RuntimeError("no")

    if where == "close watch":
        room.poller.closely.answered = fails  # type: ignore[method-assign,assignment]  # a fault of ours
    elif where == "close":
        bad.close = fails_late  # type: ignore[method-assign]  # a fault of the source
    else:
        room.poller.sink = fails
    lived(room.follow([bad, good], 100))
    assert len(bad.visits) == len(good.visits) == 10
    assert caplog.records


def test_stopping_ends_visits_under_way_and_lets_every_target_go() -> None:
    room = Room()
    sources = [room.source("hangs", hangs, timeout=1000.0), room.source("well")]

    async def life() -> float:
        await room.poller.follow(sources)
        await asyncio.sleep(30)
        began = asyncio.get_running_loop().time()
        await room.poller.stop()
        return asyncio.get_running_loop().time() - began

    assert lived(life()) == 0.0
    assert [one.closed for one in sources] == [1, 1]


def test_a_target_that_cannot_be_stopped_is_left_behind(caplog: pytest.LogCaptureFixture) -> None:
    room = Room()

    async def stubborn(source: Emulated, at: float) -> Poll:
        end = at + 40
        while room.clock.now() < end:
            try:
                await asyncio.sleep(1)
            except asyncio.CancelledError:
                continue
        return source.poll(at)

    async def life() -> float:
        await room.poller.follow([room.source("t", stubborn, timeout=100.0)])
        await asyncio.sleep(15)
        began = asyncio.get_running_loop().time()
        await room.poller.stop()
        took = asyncio.get_running_loop().time() - began
        await asyncio.sleep(60)
        return took

    assert lived(life()) <= 3.0
    assert "emulated t: does not stop" in caplog.text


def test_a_visit_that_takes_longer_than_its_period_never_overlaps_the_next() -> None:
    room = Room()
    under_way: dict[str, int] = defaultdict(int)

    async def slow(source: Emulated, at: float) -> Poll:
        under_way["now"] += 1
        under_way["most"] = max(under_way.values())
        await asyncio.sleep(2.5)
        under_way["now"] -= 1
        return source.poll(at)

    source = room.source("t", slow, period=1.0, timeout=5.0)
    lived(room.follow([source], 60))
    assert under_way["most"] == 1
    assert all(2.5 < gap < 2.7 for gap in steps(source))


@pytest.mark.parametrize("jump", [-7200.0, 7200.0], ids=["back", "forwards"])
def test_a_wall_clock_that_is_set_silences_nobody(jump: float) -> None:
    room = Room()
    source = room.source("t")

    async def life() -> None:
        await room.poller.follow([source])
        await asyncio.sleep(55)
        room.clock.offset = jump
        await asyncio.sleep(100)
        await room.poller.stop()

    lived(life())
    assert 14 <= len(source.visits) <= 17


def test_a_device_is_up_while_any_of_its_targets_answers() -> None:
    room = Room()
    one = room.source("agent", device="leaf-01")
    two = room.source("page", refuses, device="leaf-01")

    async def life() -> None:
        await room.poller.follow([one, two])
        await asyncio.sleep(50)
        one.behave = refuses
        await asyncio.sleep(50)
        await room.poller.follow([two])
        await asyncio.sleep(50)
        await room.poller.stop()

    lived(life())
    up = room.values(DEVICE_UP, "leaf-01")
    # a target not visited yet says nothing, one that does not answer does
    assert {value for at, value in up.items() if 10 < at < 50} == {1.0}
    assert {value for at, value in up.items() if at > 61} == {0.0}


def test_each_visit_tells_what_it_brought() -> None:
    room = Room()

    async def partly(source: Emulated, at: float) -> Poll:
        poll = source.poll(at, value=7.0)  # a port is up or down
        return Poll(poll.batches, missing=["module 3"])

    lived(room.follow([room.source("t", partly)], 50))
    own = ("emulated", "t")
    assert set(room.values(SOURCE_UP, *own).values()) == {1.0}
    assert set(room.values(READINGS, *own).values()) == {0.0}
    assert set(room.values(PARTIAL, *own).values()) == {1.0}
    assert list(room.values(REJECTED, *own, "implausible").values()) == [1, 2, 3, 4, 5]
    assert set(room.values(REJECTED, *own, "stale").values()) == {0.0}
    visits = list(room.values(SOURCE_UP, *own))
    assert list(room.values(LAST_SUCCESS, *own).values()) == [ORIGIN + at for at in visits]


def test_following_again_touches_only_what_changed() -> None:
    room = Room()
    same, changed, gone = room.source("same"), room.source("changed"), room.source("gone")
    same_again, other = room.source("same"), room.source("changed", period=4.0)

    async def life() -> None:
        await room.poller.follow([same, changed, gone])
        await asyncio.sleep(100)
        await room.poller.follow([same_again, other, room.source("new")])
        await asyncio.sleep(100)
        assert {one.target.name for one in room.poller.targets} == {"same", "changed", "new"}
        await room.poller.stop()

    lived(life())
    assert (same.closed, changed.closed, gone.closed) == (1, 1, 1)
    assert (same_again.visits, same_again.closed) == ([], 1)
    assert steps(same) == [10.0] * 19
    assert len(changed.visits) == len(gone.visits) == 10
    assert steps(other)[0] == 4.0


def test_refusals_are_counted_on_when_a_target_changes() -> None:
    room = Room()

    async def ill(source: Emulated, at: float) -> Poll:
        return source.poll(at, value=7.0)

    async def life() -> None:
        await room.poller.follow([room.source("t", ill)])
        await asyncio.sleep(30)
        await room.poller.follow([room.source("t", ill, timeout=1.0)])
        await asyncio.sleep(30)
        await room.poller.stop()

    lived(life())
    counted = list(room.values(REJECTED, "emulated", "t", "implausible").values())
    assert counted == list(range(1, len(counted) + 1))


def test_clocks_know_their_periods() -> None:
    room = Room()
    sources = [
        room.source("fast", period=1.0, device="leaf-01"),
        room.source("slow", period=3600.0, device="leaf-01"),
    ]

    async def life() -> dict[int, float]:
        await room.poller.follow(sources)
        found = room.poller.clocks()
        await room.poller.stop()
        return found

    periods = {room.table.clocks()[clock]: period for clock, period in lived(life()).items()}
    assert periods == {
        ("emulated", "fast"): 1.0,
        ("emulated", "slow"): 3600.0,
        ("watchers", "emulated/fast"): 1.0,
        ("watchers", "emulated/slow"): 3600.0,
        ("presence", "leaf-01"): 3600.0,
    }
