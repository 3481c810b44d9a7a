"""Following: what is away is told and followed on, what stands still is no present, by any way."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fabrichealth.catalogue.ports import UP
from fabrichealth.cli import _following
from fabrichealth.cli._following import Following, Now
from fabrichealth.cli._newest import Newest
from fabrichealth.cli._watched import Seen
from fabrichealth.errors import SourceUnavailable
from fabrichealth.kinds import LINK_DOWN
from fabrichealth.model import Batch, Place
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.journal import SqliteJournal
from tests.fabrichealth.terminal import Terminal
from tests.page.standing import NOW, incident


class Fake:
    """Something to look at, which goes away and comes back, and whose clock stops."""

    name = "fake"
    kept: Newest

    def __init__(self) -> None:
        self.away, self.moves, self.closed = False, True, False
        self._at = 0.0

    def look(self) -> Seen:
        if self.away:
            raise SourceUnavailable("fake: does not answer")
        self._at += float(self.moves)
        return Seen(self._at, (), ())

    def close(self) -> None:
        self.closed = True


def until(following: Following, there: Callable[[Now], bool]) -> Now:
    end = time.monotonic() + 10.0
    while not there(following.now):
        assert time.monotonic() < end, following.now
        time.sleep(0.01)
    return following.now


def test_an_absence_is_told_with_its_length_and_ends_by_itself() -> None:
    fake = Fake()
    following = Following(fake, every=0.02)
    fake.away = True
    gone = until(following, lambda now: now.trouble != "")
    assert gone.trouble == "fake: does not answer"
    fake.away = False
    back = until(following, lambda now: now.away > 0)
    assert back.trouble == ""
    following.stop()
    assert fake.closed


def test_a_clock_that_stands_still_is_told_as_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_following, "STALLED", 0.1)
    fake = Fake()
    following = Following(fake, every=0.02)
    fake.moves = False
    assert "nothing new is written" in until(following, lambda now: now.trouble != "").trouble
    following.stop()


def test_what_can_never_be_seen_is_an_error_at_once() -> None:
    fake = Fake()
    fake.away = True
    with pytest.raises(SourceUnavailable):
        Following(fake)
    assert fake.closed


def test_a_site_is_seen_by_what_its_daemon_wrote(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / "topology.yaml").write_text(
        "devices: [{name: a, role: switch}, {name: b, role: switch}]\nlinks: [{a: a/1, b: b/1}]\n"
    )
    site = tmp_path / "site.yaml"
    site.write_text("topology: topology.yaml\nstate: state\n")
    paths = StatePaths(tmp_path / "state")
    paths.make()
    store = EmbeddedStore.open(paths.store)
    series = store.table.intern_all([(UP, ("a", "1")), (UP, ("b", "1"))])
    clock = store.table.clock("test", "all")
    store.append([Batch(clock, NOW, series, np.array([0.0, 1.0]))])
    store.close()
    journal = SqliteJournal.open(paths.journal)
    for one in (
        incident("i1", LINK_DOWN, Place("link", "a/1--b/1")),
        incident("i2", LINK_DOWN, Place("link", "c/1--d/1"), closed=NOW - 60),
    ):
        journal.append("incident", NOW, one.to_json())
    journal.close()
    told = terminal("watch", "-c", site).out.splitlines()
    assert "fabric     1 link: 1 down; 2 devices" in told
    assert [line.split()[1] for line in told if line.startswith("PAGE")] == ["i1"]
    assert told[-1] == "1 open: 1 page"
