"""What is judged seldom holds until it is judged again."""

from collections.abc import Iterator

import pytest

from analyzer.detector import Detector, DetectorSettings
from analyzer.judge import Judge
from analyzer.ledger import Ledger
from fabrichealth.catalogue.ports import UP
from fabrichealth.kinds import LINK_WILL_FAIL
from fabrichealth.model import Finding, View
from tests.analyzer.stories import START, finding, site
from tests.reference_store import ReferenceStore

HOUR = 3600.0
ANY = next(iter(site().links.values())).ends[0]


class Seldom(Detector[DetectorSettings]):
    """Says that a margin shrinks, until it does no longer."""

    kinds = (LINK_WILL_FAIL,)
    metrics = (UP,)

    def __init__(self, every: float, until: float) -> None:
        super().__init__(DetectorSettings(every=every))
        self._until = START + until

    def judge(self, view: View) -> Iterator[Finding]:
        if view.now < self._until:
            yield finding(LINK_WILL_FAIL, ANY, 0.0, view.now - START)


@pytest.mark.parametrize("every", [0.0, 1800.0, 3600.0, 7200.0])
@pytest.mark.parametrize("step", [300.0, 420.0])
def test_its_incident_stays_open_between_and_closes_once_it_is_gone(
    every: float, step: float
) -> None:
    ledger, opened, closed = Ledger(), set[str](), []
    judge = Judge(ReferenceStore(), site(), {"seldom": Seldom(every, 12 * HOUR)}, ledger)
    now = START
    while now < START + 20 * HOUR:
        now += step
        outcome = judge.judge(now)
        opened |= {one.incident for one in outcome.changed}
        closed += outcome.closed
    assert len(opened) == 1
    assert len(closed) == 1
    assert closed[0].closed_at == pytest.approx(START + 12 * HOUR, abs=max(every, step) + step)
