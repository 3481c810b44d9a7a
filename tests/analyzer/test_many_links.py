"""Thousands of links that are ill at once are not compared with each other, one by one."""

import pytest

from analyzer.incidents import explaining, joining
from analyzer.incidents.claims import claims
from analyzer.incidents.explaining import explained
from analyzer.incidents.lifecycle import Policy, advance
from analyzer.ledger import Ledger
from fabrichealth.kinds import LINK_DOWN, LINK_SUBHEALTHY
from fabrichealth.model import Port
from tests.analyzer.living import START, clos
from tests.analyzer.stories import finding


def test_ill_links_are_held_against_what_may_explain_them_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topology = clos(30)
    kinds = (LINK_DOWN, LINK_SUBHEALTHY)
    said = [
        finding(kinds[n % 2], Port(f"host-{n}", f"eth{leaf}"), 60.0 + n, 600.0)
        for n in range(30) for leaf in range(2)
    ]  # fmt: skip

    def compared(*asked: object) -> bool:
        raise AssertionError(f"compared: {asked}")

    for module, name in ((explaining, "explains"), (joining, "_swallows"), (joining, "_swallowed")):
        monkeypatch.setattr(module, name, compared)
    ledger = Ledger()
    for minute in range(3):
        standing = explained(claims(said, topology), topology)
        advance(ledger, standing, START + 600.0 + minute, topology, [], Policy())
    assert len(ledger.incidents) == 60
