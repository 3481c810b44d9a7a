"""When orders are given, at which pace, and when they are taken back."""

import asyncio
import logging
from collections.abc import Iterable
from pathlib import Path

import pytest

from fabrichealth.remediation.order import Candidate, Order, order_of
from fabrichealth.remediation.remediator import (
    LeftAlone,
    NoAnswer,
    Remediator,
    RemedyFailed,
    RemedySettings,
)
from fabrichealth.remediation.remedies import Remedies
from tests.fabrichealth.remediation.orders import candidate


class Hand(Remediator[RemedySettings]):
    """Keeps what it is asked, and fails when told to."""

    settings_type = RemedySettings

    def __init__(self, settings: RemedySettings, name: str = "hand") -> None:
        super().__init__(settings)
        self.asked: list[str] = []
        self.did: list[str] = []
        self.wrong: Exception | None = None
        self.hangs = False
        self.nodes = False
        """Whether it drains hosts."""
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def orders(self, candidate: Candidate) -> Iterable[Order]:
        if candidate.safe:
            node = candidate.nodes[0].name if self.nodes else ""
            yield order_of(candidate, candidate.safe_because, node)

    def says(self, order: Order) -> str:
        return f"drain {order.incident}"

    def says_undo(self, order: Order) -> str:
        return f"return {order.incident}"

    async def apply(self, order: Order) -> None:
        await self._do(self.says(order))

    async def undo(self, order: Order) -> None:
        await self._do(self.says_undo(order))

    async def _do(self, what: str) -> None:
        self.asked.append(what)
        if self.hangs:
            await asyncio.Event().wait()
        if self.wrong is not None:
            raise self.wrong
        self.did.append(what)


class Desk:
    """Remedies of one hand, whose clock the test moves."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.now = 1000.0
        self.path = folder / "remedies.json"
        self.hand = Hand(RemedySettings.model_validate({"kind": "hand", **settings}))
        self.remedies = Remedies([self.hand], self.path, lambda: self.now)

    async def step(self, *found: Candidate, alive: Iterable[str] | None = None) -> None:
        names = {one.incident for one in found} if alive is None else {*alive}
        await self.remedies.step(found, names)


async def test_a_dry_run_says_once_what_it_would_do_and_does_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk(tmp_path)
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            await desk.step(candidate())
        await desk.step()
    assert [one.getMessage() for one in caplog.records] == [
        "dry run, would: drain i7",
        "dry run, would: return i7",
    ]
    assert desk.hand.did == []


async def test_what_is_safe_is_drained_once_and_returned_when_its_incident_is_over(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path, dry_run=False)
    await desk.step(candidate(safe=False))
    assert desk.hand.did == []
    await desk.step(candidate())
    await desk.step(candidate())
    await desk.step(alive=["i7"])  # no longer to be drained: it is, and stays so while it is open
    assert desk.hand.did == ["drain i7"]
    assert [one["order"]["incident"] for one in desk.remedies.standing] == ["i7"]
    await desk.step()
    assert desk.hand.did == ["drain i7", "return i7"]
    assert desk.remedies.standing == []


async def test_a_restart_neither_drains_twice_nor_forgets_to_return(tmp_path: Path) -> None:
    before = Desk(tmp_path, dry_run=False)
    await before.step(candidate())
    after = Desk(tmp_path, dry_run=False)
    await after.step(candidate())
    assert after.hand.did == []
    await after.step()
    assert after.hand.did == ["return i7"]
    assert Desk(tmp_path, dry_run=False).remedies.standing == []


async def test_what_stands_waits_while_everything_is_a_dry_run(tmp_path: Path) -> None:
    await Desk(tmp_path, dry_run=False).step(candidate())
    dry = Desk(tmp_path, dry_run=True)
    await dry.step()
    assert (dry.hand.did, len(dry.remedies.standing)) == ([], 1)
    again = Desk(tmp_path, dry_run=False)
    await again.step()
    assert again.hand.did == ["return i7"]


async def test_no_more_stand_at_once_or_are_given_an_hour_than_the_site_allows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk(tmp_path, dry_run=False, most_at_once=2, most_per_hour=3)
    three = [candidate(name) for name in ("i1", "i2", "i3")]
    with caplog.at_level(logging.WARNING):
        await desk.step(*three)
        await desk.step(*three)
    assert desk.hand.did == ["drain i1", "drain i2"]
    waits = [one.getMessage() for one in caplog.records if "waits" in one.getMessage()]
    assert waits == ["hand i3: waits: most_at_once 2 stand"]
    await desk.step(three[2], candidate("i4"))  # two are over: one more within the hour
    assert [one for one in desk.hand.did if "drain" in one] == ["drain i1", "drain i2", "drain i3"]
    desk.now += 3601
    await desk.step(three[2], candidate("i4"))
    assert desk.hand.did[-1] == "drain i4"


async def test_what_fails_is_said_once_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    desk = Desk(tmp_path, dry_run=False)
    desk.hand.wrong = RemedyFailed("it is away")
    with caplog.at_level(logging.WARNING):
        await desk.step(candidate())
        await desk.step(candidate())
    assert [one.getMessage() for one in caplog.records] == [
        "hand i7: not done, tried again: it is away"
    ]
    assert [one.up for one in desk.remedies.receivers] == [False]
    desk.hand.wrong = None
    await desk.step(candidate())
    assert desk.hand.did == ["drain i7"]
    assert [one.up for one in desk.remedies.receivers] == [True]
    desk.hand.wrong = RemedyFailed("it is away")
    await desk.step()
    assert len(desk.remedies.standing) == 1
    desk.hand.wrong = LeftAlone("kim has it")
    await desk.step(candidate("i8"))
    assert "i8" not in str(desk.remedies.standing)


async def test_who_gives_no_answer_may_have_drained_so_that_it_counts_and_is_asked_to_return(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path, dry_run=False, most_at_once=2)
    desk.hand.wrong = NoAnswer("no answer within 5 s")
    four = [candidate(f"i{n}") for n in range(4)]
    for _ in range(3):
        await desk.step(*four)
    assert desk.hand.asked == ["drain i0", "drain i1"] * 3
    assert [one["sure"] for one in desk.remedies.standing] == [False, False]
    desk.hand.wrong = None
    await desk.step(alive=["i1"])
    assert desk.hand.did == ["return i0"]
    assert [one["order"]["incident"] for one in desk.remedies.standing] == ["i1"]


async def test_a_daemon_that_is_ended_while_it_drains_knows_it_afterwards(tmp_path: Path) -> None:
    before = Desk(tmp_path, dry_run=False)
    before.hand.hangs = True
    asking = asyncio.create_task(before.step(candidate()))
    while not before.hand.asked:
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    after = Desk(tmp_path, dry_run=False)
    await after.step()
    assert after.hand.did == ["return i7"]


async def test_one_that_hangs_delays_no_other(tmp_path: Path) -> None:
    settings = RemedySettings.model_validate({"kind": "hand", "dry_run": False})
    stuck, well = Hand(settings, "stuck"), Hand(settings, "well")
    stuck.hangs = True
    remedies = Remedies([stuck, well], tmp_path / "remedies.json", lambda: 1000.0)
    asking = asyncio.create_task(remedies.step([candidate()], {"i7"}))
    async with asyncio.timeout(5):
        while not well.did:
            await asyncio.sleep(0)
    asking.cancel()
    assert (well.did, stuck.did) == (["drain i7"], [])


async def test_a_host_stays_out_until_the_last_incident_on_it_is_over(tmp_path: Path) -> None:
    desk = Desk(tmp_path, dry_run=False)
    desk.hand.nodes = True
    await desk.step(candidate("i7"), candidate("i9"))
    await desk.step(candidate("i9"))
    assert desk.hand.did == ["drain i7", "drain i9"]
    await desk.step()
    assert desk.hand.did == ["drain i7", "drain i9", "return i9"]


async def test_what_a_dry_run_said_is_done_once_it_is_none_any_more(tmp_path: Path) -> None:
    await Desk(tmp_path).step(candidate())
    desk = Desk(tmp_path, dry_run=False, most_at_once=1)
    await desk.step(candidate())
    await desk.step(candidate())
    assert desk.hand.did == ["drain i7"]


async def test_only_the_kinds_that_are_named_are_acted_on(tmp_path: Path) -> None:
    desk = Desk(tmp_path, dry_run=False, kinds=["link.down"])
    await desk.step(candidate(), candidate("i8", kind="link.down"))
    assert desk.hand.did == ["drain i8"]


@pytest.mark.parametrize("text", ["", "{}x", '{"a": 1}', '[{"remediator": "hand"}]', "[3]"])
def test_a_file_that_cannot_be_read_is_said_in_one_line(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "remedies.json").write_text(text)
    with caplog.at_level(logging.ERROR):
        assert Desk(tmp_path).remedies.standing == []
    (record,) = caplog.records
    assert "return it by hand" in record.getMessage()
