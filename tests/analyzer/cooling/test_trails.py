"""Trails of a table that grows: another process writes while this one judges."""

from math import inf

import numpy as np

from analyzer.detectors.cooling_leak import CoolingLeak, CoolingLeakSettings
from analyzer.evidence.cooling.loops import SPEED, SUCKED, Cooling
from analyzer.viewing import Viewing
from benchmarks.corpus.last_hours import LastHours
from fabrichealth.catalogue.cooling import FLOW, PRESSURE, PUMP_SPEED
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Labels
from fabrichealth.topology import Topology
from tests.analyzer.views import START

POLLS, PERIOD = 120, 60.0


def write(store: LastHours, *series: tuple[Metric, Labels]) -> None:
    clock, numbers = store.table.clock("modbus", str(series[0])), store.table.intern_all(series)
    for poll in range(POLLS):
        values = np.full(len(series), 0.5)
        store.append([Batch(clock, START + poll * PERIOD, numbers, values)])


def test_what_is_first_told_while_it_judges_is_left_to_the_next_pass() -> None:
    store, leak = LastHours(inf), CoolingLeak(CoolingLeakSettings())
    write(store, (FLOW, ("cdu-1", "", "supply")))
    viewing = Viewing(store, {"leak": leak})
    now = START + POLLS * PERIOD
    viewing.advance(now)
    view = viewing.view(leak, Topology(), [], ())
    judging = Cooling(view, 300.0)
    write(store, (PUMP_SPEED, ("cdu-1", "", "p1")), (PRESSURE, ("cdu-1", "", "return")))
    for chosen in (SPEED, SUCKED):
        assert np.isnan(judging[chosen][:, -1]).all()
    viewing.advance(now + 1.0)
    later = Cooling(viewing.view(leak, Topology(), [], ()), 300.0)
    assert later[SPEED][:, -1].tolist() == [0.5]
