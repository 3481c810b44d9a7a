"""Silences as maintenance: what is taken, what is said of it, and what no reply can do."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabrichealth.events import Event
from fabrichealth.runtime.silences import MOST_NAMES, Silence, Taken, scopes_of, silences
from fabrichealth.topology import Topology
from fabrichealth.topology.rows import Device, Domain, Rack

HALL = Topology(
    [
        *(Device(name=f"h{n}", role="host", rack="r1") for n in range(300)),
        Device(name="leaf-01.hall", role="switch"),
    ],
    [],
    [Domain(name="pod-a")],
    [Rack(name="r1"), Rack(name="r2")],
)


def matcher(name: str, value: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "isRegex": False, **more}


@pytest.mark.parametrize(
    ("matchers", "scopes"),
    [
        ([matcher("rack", "r1")], [{"rack": "r1"}]),
        ([matcher("device", "h1"), matcher("port", "eth0")], [{"device": "h1", "port": "eth0"}]),
        ([matcher("rack", "r1|r2", isRegex=True)], [{"rack": "r1"}, {"rack": "r2"}]),
        ([matcher("rack", "r.*", isRegex=True), matcher("domain", "pod-a")],
         [{"rack": "r1", "domain": "pod-a"}, {"rack": "r2", "domain": "pod-a"}]),
        ([matcher("alertname", "Fabric.*", isRegex=True), matcher("rack", "r1")], [{"rack": "r1"}]),
        ([matcher("alertname", "FabricPortDown"), matcher("rack", "r1")], []),
        ([matcher("rack", "r1"), matcher("severity", "ticket")], []),
        ([matcher("rack", "r1", isEqual=False)], []),
        ([matcher("rack", "r9", isRegex=True)], []),
        ([matcher("rack", "(r1", isRegex=True)], []),
        ([matcher("rack", "(r+)+x", isRegex=True)], []),
        ([matcher("rack", "")], []),
        ([matcher("device", r"leaf-01\.hall", isRegex=True)], [{"device": "leaf-01.hall"}]),
        ([matcher("rack", "(?:r1|r9)", isRegex=True)], [{"rack": "r1"}]),
        ([matcher("rack", ".*", isRegex=True)], []),  # names nothing: not the whole fabric
        ([matcher("rack", ".+|", isRegex=True)], []),
        ([matcher("rack", "[[:alpha:]]1", isRegex=True)], []),
        ([matcher("device", "", isRegex=True)], []),
        ([matcher("incident", "i7")], []),
        ([matcher("alertname", ".*", isRegex=True)], []),
        ([], []),
    ],
)  # fmt: skip
def test_a_silence_is_maintenance_of_the_places_that_it_names_and_of_nothing_narrower(
    matchers: list[dict[str, Any]], scopes: list[dict[str, str]]
) -> None:
    assert list(scopes_of(matchers, HALL)) == scopes


@pytest.mark.parametrize(
    "matchers",
    [
        [matcher("device", "h.*", isRegex=True)],
        [matcher("rack", "r.*", isRegex=True), matcher("device", "h1.*", isRegex=True)],
    ],
    ids=["one expression", "two that multiply"],
)
def test_one_of_more_places_than_anybody_works_at_is_told_once_and_not_taken(
    matchers: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    wide: set[str] = set()
    for _ in range(3):
        rows = [row(matchers=matchers), row(id="other")]
        assert [one.id for one in silences(json.dumps(rows).encode(), HALL, wide)] == ["other"]
    (said,) = [one.getMessage() for one in caplog.records]
    assert f"more than {MOST_NAMES}; name their rack or domain instead" in said


def row(**changes: Any) -> dict[str, Any]:
    return {
        "id": "0a1b2c3d-1111", "status": {"state": "active"}, "createdBy": "kim",
        "comment": "swap\nof optics", "startsAt": "2026-01-01T00:00:00.000Z",
        "endsAt": "2026-01-01T09:00:00.5+01:00", "matchers": [matcher("rack", "r1")], **changes,
    }  # fmt: skip


def read(*rows: object) -> list[Silence]:
    return silences(json.dumps(rows).encode(), HALL)


def test_who_made_it_why_and_how_long_are_read() -> None:
    (one,) = read(row())
    assert one == Silence(
        "0a1b2c3d-1111", 1767225600.0, 1767254400.5, ({"rack": "r1"},), "kim: swap of optics"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"status": {"state": "expired"}},
        {"status": {"state": "pending"}},
        {"status": None},
        {"startsAt": "yesterday"},
        {"endsAt": "2025-01-01T00:00:00Z"},
        {"matchers": None},
        {"matchers": [{"name": "rack"}]},
        {"id": ""},
    ],
    ids=str,
)
def test_one_that_is_not_active_or_not_whole_costs_itself_only(changes: dict[str, Any]) -> None:
    assert [one.id for one in read(row(**changes), row(id="other"))] == ["other"]


@pytest.mark.parametrize("body", [b"<html>", b"", b"{}", b'"x"', b"\xff"])
def test_what_no_alertmanager_answers_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any of them
        silences(body, HALL)


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from([*row()]), anything), anything)
def test_any_rows_give_silences_or_nothing(changes: dict[str, Any], other: object) -> None:
    for one in read({**row(), **changes}, other):
        assert one.scopes


ONE = Silence("0a1b2c3d-1111", 100.0, 5000.0, ({"rack": "r1"}, {"rack": "r2"}), "kim: swap")


def told(events: list[Event]) -> list[tuple[str, str, object]]:
    return [(event.kind, event.id, event.more.get("until")) for event in events]


def test_it_is_said_once_a_place_and_ended_when_it_expires_before_its_time() -> None:
    taken = Taken([])
    starts = taken.news([ONE], 200.0)
    assert told(starts) == [("maintenance_start", "silence-0a1b2c3d", 5000.0)] * 2
    assert [(event.at, event.note) for event in starts] == [(100.0, "kim: swap")] * 2
    assert taken.news([ONE], 215.0) == []
    assert told(taken.news([], 230.0)) == [("maintenance_end", "silence-0a1b2c3d", None)]
    assert taken.news([], 245.0) == []


def test_one_that_runs_out_needs_no_word_and_one_that_is_changed_is_said_anew() -> None:
    taken = Taken([])
    taken.news([ONE], 200.0)
    longer, shorter = ONE._replace(end=6000.0), ONE._replace(end=3000.0)
    assert told(taken.news([longer], 300.0))[0][2] == 6000.0
    kinds = [event.kind for event in taken.news([shorter], 400.0)]
    assert kinds == ["maintenance_end", "maintenance_start", "maintenance_start"]
    assert taken.news([], 3001.0) == []


def test_after_a_restart_it_knows_what_it_said() -> None:
    before = Taken([])
    journal = [event.to_json() for event in before.news([ONE], 200.0)]
    assert Taken(journal).news([ONE], 300.0) == []
    after = Taken(journal)
    assert [event.kind for event in after.news([], 300.0)] == ["maintenance_end"]
    ended = [*journal, {"kind": "maintenance_end", "silence": ONE.id}]
    assert Taken(ended).news([], 300.0) == []


def test_a_clock_that_is_ahead_of_ours_delays_no_maintenance() -> None:
    start, *_ = Taken([]).news([ONE], 40.0)
    assert (start.at, start.more["until"]) == (40.0, 5000.0)
