"""Replaying judges recorded telemetry as if it happened now."""

from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.judge import detectors
from analyzer.replaying import Replay
from fabrichealth.catalogue.ports import UP
from fabrichealth.events import Event
from fabrichealth.kinds import DEVICE_DOWN, LINK_DOWN
from fabrichealth.model import Batch, Incident, Port
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Topology
from tests.analyzer.living import START, Life, Reading, clos, ports_up


def troubled(topology: Topology) -> Callable[[str, float], list[Reading]]:
    """Return a law: a cable out from 200 to 400 s, leaf-1 dark from 600 s, a flap after 900 s."""

    def law(device: str, elapsed: float) -> list[Reading]:
        def down(end: Port) -> bool:
            out = {Port("host-3", "eth0"), Port("leaf-0", "3")}
            flaps = {Port("host-1", "eth0"), Port("leaf-0", "1")}
            if end in out and 200 <= elapsed < 400:
                return True
            if end in flaps and elapsed >= 900 and int(elapsed) % 60 < 10:
                return True
            return end.port == "eth1" and elapsed >= 600

        dark = device == "leaf-1" and elapsed >= 600
        return [] if dark else ports_up(topology, device, down)

    return law


def facts(incidents: list[Incident]) -> set[tuple[str, str, float, str | None]]:
    return {(one.kind.name, one.culprit.id, one.opened_at, one.suppressed_by) for one in incidents}


@pytest.mark.parametrize("period", [10.0, 30.0])
def test_live_and_replayed_judging_say_the_same(period: float, tmp_path: Path) -> None:
    topology = clos(6)
    store = EmbeddedStore.open(tmp_path / "store.db")
    events = [
        Event(START + 880, "maintenance_start", {"device": "host-1"}, "chg-1"),
        Event(START + 1300, "maintenance_end", {"device": "host-1"}, "chg-1"),
    ]
    periods = dict.fromkeys(topology.links_of, period)
    life = Life(store, topology, troubled(topology), periods, every=period).until(1200, events)
    replayed = list(Replay(store, topology, detectors(), events).run())
    store.close()
    live = [*life.closed, *life.open]
    assert facts(replayed) == facts(live)
    assert {(one.kind, one.culprit.id) for one in live} >= {
        (LINK_DOWN, "host-3/eth0--leaf-0/3"),
        (DEVICE_DOWN, "leaf-1"),
    }
    confirmed = {one.culprit.id: one.confirmed_at for one in live}
    for one in replayed:
        known = confirmed[one.culprit.id]
        assert (one.confirmed_at is None) is (known is None)
        assert one.confirmed_at is None or abs(one.confirmed_at - (known or 0)) <= period


def test_nothing_in_the_future_changes_what_was_said_before(tmp_path: Path) -> None:
    """The same history, once cut off at 500 s and once going on in the worst way."""
    topology = clos(6)
    said = []
    for length, worse in ((500.0, False), (500.0, True)):
        store = EmbeddedStore.open(tmp_path / f"store-{worse}.db")
        law = troubled(topology)
        Life(store, topology, law, dict.fromkeys(topology.links_of, 10.0)).until(length)
        if worse:
            future = [
                Batch(batch.clock, batch.at + 10 * n, batch.series, batch.values * 0)
                for n in range(1, 30)
                for batch in _last(store)
            ]
            store.append(future)
        judged = Replay(store, topology, detectors())
        until = START + length
        said.append(
            [
                (outcome.at, [str(one) for one in outcome.findings])
                for outcome in judged.outcomes()
                if outcome.at < until - 5
            ]
        )
        store.close()
    assert said[0] == said[1]
    assert any(found for _, found in said[0])


def _last(store: EmbeddedStore) -> list[Batch]:
    """Return the last readings of each clock again."""
    span = store.span()
    assert span is not None
    window = store.window(UP, span[1], 30.0)
    found = []
    for clock in sorted(set(window.clock.tolist())):
        rows = window.clock == clock
        found.append(Batch(clock, span[1], window.series[rows], window.last[rows]))
    return found


def test_an_empty_store_has_no_incidents(store: EmbeddedStore) -> None:
    assert list(Replay(store, clos(1), detectors()).run()) == []


def test_a_history_that_starts_in_the_middle_of_trouble_is_judged_from_what_is_there(
    store: EmbeddedStore,
) -> None:
    """A port that is down from the first reading on was never seen up: no incident."""
    topology = clos(6)

    def law(device: str, elapsed: float) -> list[Reading]:
        ill = {Port("host-3", "eth0"), Port("leaf-0", "3")}
        return ports_up(topology, device, lambda end: end in ill)

    Life(store, topology, law, dict.fromkeys(topology.links_of, 10.0)).until(300)
    assert list(Replay(store, topology, detectors()).run()) == []


@pytest.mark.parametrize("period", [60.0, 3600.0])
def test_a_slow_history_is_stepped_at_its_own_pace(period: float, store: EmbeddedStore) -> None:
    topology = clos(6)

    def law(device: str, elapsed: float) -> list[Reading]:
        ill = {Port("host-3", "eth0"), Port("leaf-0", "3")}
        return ports_up(topology, device, lambda end: elapsed >= 4 * period and end in ill)

    Life(store, topology, law, dict.fromkeys(topology.links_of, period), every=period).until(
        10 * period
    )
    play = Replay(store, topology, detectors())
    (incident,) = play.run()
    assert abs(play.passes - 10 * period / min(period, 300.0)) <= 1
    assert (incident.kind, incident.opened_at) == (LINK_DOWN, START + 4 * period)
    assert incident.confirmed_at is not None
    assert incident.confirmed_at <= START + 5 * period + min(period, 300.0)
