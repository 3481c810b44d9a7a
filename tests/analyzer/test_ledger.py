"""What survives a restart of the judging process."""

import logging
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.ledger import Ledger, load, save
from fabrichealth.catalogue.ports import SYMBOL_ERRORS, UP
from fabrichealth.events import Event
from fabrichealth.kinds import KINDS, LINK_DOWN, LINK_SUBHEALTHY, Cause, Severity
from fabrichealth.model import (
    Alternative,
    Change,
    Evidence,
    Finding,
    Forecast,
    Incident,
    Place,
    Port,
)
from fabrichealth.store.embedded import EmbeddedStore
from tests.analyzer.living import Life, Reading, clos, ports_up
from tests.analyzer.stories import MINUTE, START, Story, during

ONE_FOLDER = [HealthCheck.function_scoped_fixture]

times = st.floats(1e9, 2e9)
numbers = st.floats(allow_nan=False, allow_infinity=False)
names = st.text("ab-0.é", min_size=1, max_size=6).filter(lambda name: "--" not in name)
ports = st.builds(Port, names, st.sampled_from(["0", "mlx5_0/1", "nvlink/14"]))
places = st.builds(Place, st.sampled_from(["device", "rack", "loop", "job", "source"]), names)
kinds = st.sampled_from(sorted(KINDS.values(), key=str))
severities = st.sampled_from(Severity)
causes = st.dictionaries(st.sampled_from(Cause), st.sampled_from([0.1, 0.25, 0.5]), max_size=3)
evidences = st.builds(
    Evidence,
    st.sampled_from([UP, SYMBOL_ERRORS]),
    st.just({"device": "leaf-0", "port": "0"}),
    numbers,
    st.none() | numbers,
    st.sampled_from(["", "bit/s"]),
    times,
    st.text(max_size=20),
)
forecasts = st.builds(Forecast, st.sampled_from(["trip", "empty"]), times, times, times)
findings = st.builds(
    Finding,
    kind=kinds,
    about=ports | places,
    score=numbers,
    since=times,
    at=times,
    evidence=st.lists(evidences, max_size=2),
    because=st.text(max_size=20),
    causes=causes,
    side=st.none() | ports,
    direction=st.sampled_from([None, "rx", "tx"]),
    lane=st.sampled_from([None, "3"]),
    forecast=st.none() | forecasts,
    severity=st.none() | severities,
    victims=st.lists(places, max_size=2).map(tuple),
    detail=st.dictionaries(st.sampled_from(["period", "x"]), numbers, max_size=2),
)
incidents = st.builds(
    Incident,
    incident=st.integers(1, 999).map(lambda n: f"i{n}"),
    kind=kinds,
    severity=severities,
    opened_at=times,
    culprit=places | ports.map(lambda port: Place("port", str(port))),
    because=st.text(max_size=20),
    action=st.text(max_size=20),
    confirmed_at=st.none() | times,
    last_seen=times,
    domain=st.none() | names,
    side=st.none() | ports.map(str),
    direction=st.sampled_from([None, "rx"]),
    lane=st.sampled_from([None, "3"]),
    history=st.lists(st.builds(Change, times, kinds.map(str), severities), max_size=2),
    victims=st.lists(places, max_size=2),
    path=st.lists(names, max_size=2),
    alternatives=st.lists(st.builds(Alternative, places, numbers, st.text(max_size=9)), max_size=1),
    cause=st.none() | st.sampled_from(Cause),
    causes=causes,
    score=numbers,
    evidence=st.lists(evidences, max_size=2),
    forecast=st.none() | forecasts,
    safe_to_drain=st.sampled_from([None, True, False]),
    safe_because=st.none() | st.text(max_size=9),
    data_quality=st.sampled_from(["good", "partial", "poor"]),
    suppressed_by=st.none() | st.just("maintenance:chg-7"),
)
ledgers = st.builds(
    Ledger,
    before=st.dictionaries(st.sampled_from(["link_down", "other"]), st.lists(findings, max_size=2)),
    incidents=st.lists(incidents, max_size=2),
    merged=st.lists(incidents, max_size=1),
    opened=st.dictionaries(st.tuples(names, names, names), st.integers(0, 99), max_size=2),
    sequence=st.integers(0, 10**9),
    renamed=st.sets(st.tuples(times, ports.map(str), ports.map(str)), max_size=2),
)


@settings(max_examples=20, deadline=None, suppress_health_check=ONE_FOLDER)
@given(ledgers)
def test_what_is_saved_is_what_is_loaded(tmp_path: Path, ledger: Ledger) -> None:
    path = tmp_path / "ledger.json"
    save(ledger, path)
    assert load(path) == ledger


@settings(max_examples=20, deadline=None, suppress_health_check=ONE_FOLDER)
@given(ledgers, st.data())
def test_a_torn_file_is_set_aside_and_judging_begins_anew(
    tmp_path: Path, ledger: Ledger, data: st.DataObject
) -> None:
    path = tmp_path / "ledger.json"
    save(ledger, path)
    text = path.read_bytes()
    torn = text[: data.draw(st.integers(0, len(text) - 1))]
    path.write_bytes(torn)
    assert load(path) == Ledger()
    assert not path.exists()
    assert path.with_suffix(".unreadable").read_bytes() == torn


shapes = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | numbers | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["before", "incidents", "opened", "kind", "at", "x"]), inner
        )
    ),
    max_leaves=12,
)


@settings(max_examples=20, deadline=None, suppress_health_check=ONE_FOLDER)
@given(
    st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(("before", "incidents", "opened", "sequence", "renamed"), shapes),
    )
    | shapes
)
def test_a_foreign_file_never_stops_judging(tmp_path: Path, foreign: object) -> None:
    path = tmp_path / "ledger.json"
    path.write_bytes(orjson.dumps(foreign))
    assert isinstance(load(path), Ledger)


def test_an_incident_of_an_unknown_kind_costs_only_itself(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "ledger.json"
    rows = [
        Incident(f"i{n}", LINK_DOWN, Severity.PAGE, START, Place("link", "a/0--b/0"), "..", "..")
        for n in (1, 2)
    ]
    save(Ledger(incidents=rows, sequence=2), path)
    path.write_bytes(path.read_bytes().replace(b'"kind":"link.down"', b'"kind":"link.odd"', 1))
    with caplog.at_level(logging.WARNING):
        found = load(path)
    assert [one.incident for one in found.incidents] == ["i2"]
    assert found.sequence == 2
    assert "link.odd" in caplog.text


def test_without_a_file_judging_begins_anew(tmp_path: Path) -> None:
    assert load(tmp_path / "ledger.json") == Ledger()


@settings(max_examples=8, deadline=None, suppress_health_check=ONE_FOLDER)
@given(stops=st.lists(st.integers(1, 100), min_size=1, max_size=4, unique=True))
def test_a_restart_at_any_moment_changes_nothing(tmp_path: Path, stops: list[int]) -> None:
    """What is open stays open with its id, its start and its one confirmation."""

    def script(elapsed: float) -> list[Finding]:
        return [
            *during(LINK_DOWN, Port("host-0", "eth0"), (300, 1500), (2400, 2700))(elapsed),
            *during(LINK_SUBHEALTHY, Port("host-1", "eth0"), (600, 4000))(elapsed),
        ]  # fmt: skip

    events = [
        Event(START + 120, "maintenance_start", {"rack": "r1"}),
        Event(START + 900, "maintenance_end", {"rack": "r1"}),
    ]
    plain, broken = Story(script, events), Story(script, events)
    path = tmp_path / "ledger.json"
    for minute in sorted(stops):
        broken.until(minute * MINUTE)
        save(broken.ledger, path)
        broken.restart(load(path))
    end = 110 * MINUTE
    assert broken.until(end).all == plain.until(end).all
    assert broken.ledger == plain.ledger


@pytest.mark.parametrize("stop", [100, 210, 230, 300])
def test_real_detectors_go_on_where_they_were(stop: float, tmp_path: Path) -> None:
    """A link falls at 200 s: whenever judging restarts, it is confirmed at the same pass."""
    topology = clos(6)

    def law(device: str, elapsed: float) -> list[Reading]:
        ill = {Port("host-3", "eth0"), Port("leaf-0", "3")}
        return ports_up(topology, device, lambda end: elapsed >= 200 and end in ill)

    lives = []
    for restarts in (False, True):
        store = EmbeddedStore.open(tmp_path / f"store-{restarts}.db")
        life = Life(store, topology, law, dict.fromkeys(topology.links_of, 10.0)).until(stop)
        if restarts:
            save(life.ledger, tmp_path / "ledger.json")
            life.ledger = load(tmp_path / "ledger.json")
            life.judge = life.new_judge()
        lives.append(life.until(400).open)
        store.close()
    assert lives[0] == lives[1]
    assert len(lives[0]) == 1
