"""What is asked of the telling of every kind that a detector can speak of: short, and complete."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alerts.generate import EXAMPLES, files
from analyzer.detector import AnyDetector
from analyzer.incidents.claims import claims
from analyzer.incidents.explaining import explained
from analyzer.incidents.lifecycle import Policy, advance
from analyzer.ledger import Ledger, to_incident
from fabrichealth import narrative
from fabrichealth.catalogue.ports import UP
from fabrichealth.kinds import KINDS, LINK_CAUSES, Severity
from fabrichealth.model import (
    Alternative,
    Change,
    Earlier,
    Evidence,
    Forecast,
    Incident,
    Place,
    Proof,
    Rung,
    Word,
)
from fabrichealth.store.embedded import EmbeddedStore
from tests.conformance.test_every_detector import DETECTORS, sick

LONGEST = 40
"""A tired person reads less than so many lines."""


def told_of(detector: AnyDetector, folder: Path) -> Incident:
    """Return the incident that a detector's sick pod becomes."""
    store = EmbeddedStore.open(folder / "store.db")
    try:
        made = sick(detector)
        findings = list(detector.judge(made.look(detector, store)))
    finally:
        store.close()
    ledger, topology = Ledger(), made.topology
    standing = explained(claims(findings, topology), topology)
    advance(ledger, standing, float(made.at[-1]), topology, [], Policy())
    (incident,) = ledger.incidents
    return incident


@pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
def test_a_tired_person_is_told_who_why_since_when_and_what_to_do(
    detector: AnyDetector, tmp_path: Path
) -> None:
    incident = told_of(detector, tmp_path)
    text = narrative.story(incident.to_json())
    lines = text.splitlines()
    assert len(lines) < LONGEST
    assert lines[0].split() == [incident.incident, incident.kind.name, str(incident.severity)]
    heads = {line[:11].strip() for line in lines if line[:1] != " "}
    assert {"culprit", "because", "opened", "do", "data", "evidence"} <= heads
    assert any(str(incident.culprit) in line for line in lines)
    assert incident.because in text
    assert incident.action in text
    assert not {"None", "nan", "inf", "{", "}"} & set(text.replace(",", " ").split())
    assert any(character.isdigit() for character in incident.because)
    if incident.kind.causes:
        assert "drain now" in text
    name = type(detector).__module__.rpartition(".")[2]
    told_by, _, kept = example_of(incident.kind.name).partition("\n")
    assert kept == f"{text}\n" or told_by != name, (
        "python -m tests.conformance.runbook_examples; fabrichealth generate"
    )


def example_of(kind: str) -> str:
    """Return the example of a kind's runbook; its first line names the detector it is of."""
    return (EXAMPLES / f"{kind}.txt").read_text(encoding="utf-8")


def test_every_kind_has_an_example_in_its_runbook() -> None:
    pages = files()
    for kind in KINDS:
        assert example_of(kind).partition("\n")[2] in pages[f"runbooks/{kind}.md"]


@pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
def test_what_is_written_is_read_back_whole(detector: AnyDetector, tmp_path: Path) -> None:
    plain = told_of(detector, tmp_path).to_json()
    assert to_incident(plain).to_json() == plain


def full(name: str, many: int, word: str) -> Incident:
    """Return an incident of a kind with so much of everything."""
    kind = KINDS[name]
    places = [Place("device", f"host-{n}") for n in range(many)]
    line = Evidence(UP, {"device": "d", "port": "1"}, 1.0, 0.0, "", 1e9, "seen")
    return Incident(
        "i1", kind, Severity.PAGE, 1e9, Place(kind.culprit, "x"), "because", "Do it.",
        confirmed_at=1e9, closed_at=1e9, side="a/1", direction="rx", lane="1",
        history=[Change(1e9 + n, name, Severity.PAGE) for n in range(many)],
        victims=places,
        alternatives=[Alternative(place, 0.1, "later") for place in places],
        causes=dict.fromkeys(LINK_CAUSES, 1 / len(LINK_CAUSES)),
        evidence=[replace(line, at=1e9 + n) for n in range(many)],
        forecast=Forecast("limit_reached", 1e9, 1e9, 1e9),
        safe_to_drain=False, safe_because="no", suppressed_by="boot:r1", held_back="one only",
        operator=Word(word, 1e9, "note", silent=True),
        earlier=[Earlier("i0", name, "x", 1e8, 1e8, "link") for _ in range(many)],
        repair=[Rung("clean", "clean it", 0.5, 1, 1) for _ in range(many)],
        proof=Proof(1e-14, 3e14, 750.0, 1e9),
    )  # fmt: skip


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(sorted(KINDS)), st.integers(0, 300), st.sampled_from(["true", "false", "ack"])
)
def test_however_much_there_is_to_say_it_is_short(name: str, many: int, word: str) -> None:
    plain = full(name, many, word).to_json()
    assert len(narrative.story(plain, now=1e9 + 60).splitlines()) < LONGEST
    assert "\n" not in narrative.headline(plain)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        (lambda one: {"operator": {"says": "ack", "at": 1e9, "note": "", "silent": True}},
         "[somebody is at it]"),
        (lambda one: {"held_back": "one kind of evidence alone"}, "[no page: see explain]"),
        (lambda one: {"suppressed_by": "maintenance:chg-7"}, "[suppressed by maintenance:chg-7]"),
    ],
)  # fmt: skip
def test_what_is_quiet_says_so_in_the_list(
    told: Callable[[Incident], dict[str, object]], says: str
) -> None:
    one = full("link.down", 1, "true")
    plain = {**one.to_json(), "operator": None, "held_back": None, "suppressed_by": None}
    assert says not in narrative.headline(plain)
    assert says in narrative.headline({**plain, **told(one)})
