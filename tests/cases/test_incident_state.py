"""Cases from the field: what an incident remembers, and for how long."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from analyzer.detector import AnyDetector
from analyzer.detectors.accelerator_errors import AcceleratorErrors, AcceleratorErrorsSettings
from analyzer.detectors.link_degraded_speed import LinkDegradedSpeed, LinkDegradedSpeedSettings
from analyzer.detectors.source_silent import SourceSilent, SourceSilentSettings
from analyzer.judge import Judge, Outcome, detectors
from analyzer.ledger import Ledger, load, save
from fabrichealth.catalogue.accelerators import ERRORS
from fabrichealth.catalogue.ports import LINK_DOWNS, PORT_INFO, SPEED, UP
from fabrichealth.catalogue.verdicts import INCIDENTS
from fabrichealth.catalogue.watchers import LAST_SUCCESS, SOURCE_UP
from fabrichealth.events import Event
from fabrichealth.kinds import LINK_DEGRADED_SPEED, WATCH_SOURCE_SILENT
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Incident, Labels, Place
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Topology

START = 1_764_000_000.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    opened = EmbeddedStore.open(tmp_path / "store.db")
    yield opened
    opened.close()


class Judging:
    """A judge that can be stopped and started; times are seconds after the start."""

    def __init__(self, store: EmbeddedStore, detectors: dict[str, AnyDetector]) -> None:
        self.store, self.detectors = store, detectors
        self.ledger = Ledger()
        self.judge = Judge(store, Topology(), detectors, self.ledger)
        self.outcome = Outcome(0.0)
        self.closed: list[Incident] = []

    def poll(self, at: float, *readings: tuple[Metric, Labels, float]) -> None:
        table = self.store.table
        series = table.intern_all([(metric, labels) for metric, labels, _ in readings])
        values = np.array([value for *_, value in readings])
        self.store.append([Batch(table.clock("test", "t"), START + at, series, values)])

    def look(self, at: float) -> list[Incident]:
        self.outcome = self.judge.judge(START + at)
        self.closed += self.outcome.closed
        return self.ledger.incidents

    def restart(self, folder: Path) -> None:
        save(self.ledger, folder / "ledger.json")
        self.ledger = load(folder / "ledger.json")
        self.judge = Judge(self.store, Topology(), self.detectors, self.ledger)

    @property
    def opened(self) -> float:
        return sum(one.value for one in self.outcome.verdicts if one.metric is INCIDENTS)


@pytest.mark.parametrize("restart", [False, True])
def test_a_sticky_error_gauge_is_one_event_that_ends(
    restart: bool, store: EmbeddedStore, tmp_path: Path
) -> None:
    """c03: one error 31, seen for an hour: news for 15 minutes, then over, and never again."""
    judging = Judging(store, {"e": AcceleratorErrors(AcceleratorErrorsSettings())})
    for minute in range(62):
        judging.poll(minute * 60, (ERRORS, ("gpu-a2-5", "xid:31"), float(minute >= 2)))
        incidents = judging.look(minute * 60 + 1)
        if restart and minute == 30:
            judging.restart(tmp_path)
        if 2 <= minute <= 31:
            assert [one.opened_at for one in incidents] == [START + 120]
        elif minute >= 33:
            assert incidents == []
    (one,) = judging.closed
    assert one.closed_at == START + 120
    assert judging.opened == 1


def test_a_flap_before_a_reboot_belongs_to_the_port_under_its_new_name(
    store: EmbeddedStore,
) -> None:
    """c09: mlx5_2 flaps, the host reboots, the port is mlx5_3; the counter falls from 7 to 0."""
    every = {name: detectors()[name] for name in ("link_flapping", "link_down")}
    judging = Judging(store, every)
    old, new = ("gpu-a1", "mlx5_2/1"), ("gpu-a1", "mlx5_3/1")
    for minute, (up, downs) in enumerate([(1, 4), (0, 5), (1, 5), (0, 6), (1, 6), (0, 7), (1, 7)]):
        judging.poll(minute * 60, (UP, old, float(up)), (LINK_DOWNS, old, float(downs)))
        judging.look(minute * 60 + 1)
    (flap,) = judging.ledger.incidents
    assert (flap.culprit, flap.opened_at) == (Place("port", "gpu-a1/mlx5_2/1"), START + 60)
    names = {"from": old[1], "to": new[1]}
    judging.judge.tell([Event(START + 900, "port_renamed", {"device": "gpu-a1"}, more=names)])
    for minute in range(15, 26 * 60, 5):
        judging.poll(minute * 60, (UP, new, 1.0), (LINK_DOWNS, new, 0.0))
        incidents = judging.look(minute * 60 + 1)
        assert all(one.culprit.id == "gpu-a1/mlx5_3/1" for one in incidents)
        assert len(incidents) <= 1
    assert judging.ledger.incidents == []
    (closed,) = judging.closed
    assert closed.incident == flap.incident
    assert closed.closed_at == START + 300  # the last fall; its reset was none


def test_firing_and_pending_survive_a_restart(store: EmbeddedStore, tmp_path: Path) -> None:
    """c26: what fires goes on firing, what is held counts the time before the restart."""
    silent, narrow = "snmp/leaf-1", ("leaf-2", "7")
    every: dict[str, AnyDetector] = {
        "silent": SourceSilent(SourceSilentSettings(hold=300.0)),
        "narrow": LinkDegradedSpeed(LinkDegradedSpeedSettings(hold=3600.0)),
    }
    judging = Judging(store, every)
    fired: dict[object, float] = {}
    for at in np.arange(-60.0, 4210.0, 30.0).tolist():
        down = 3000 < at < 3060
        judging.poll(
            at,
            (SOURCE_UP, ("snmp", "leaf-1"), float(at < 0)),
            (LAST_SUCCESS, ("snmp", "leaf-1"), START - 30),
            (SPEED, narrow, 400e9 if at < 600 else 200e9),
        )
        if down:
            continue
        if at == 3060:
            before = judging.ledger.incidents[0]
            judging.restart(tmp_path)
        for one in judging.look(at):
            fired.setdefault(one.kind, at)
        if at == 3060:
            (after,) = judging.ledger.incidents
            assert (after.incident, after.culprit.id) == (before.incident, silent)
            assert (after.opened_at, after.confirmed_at) == (before.opened_at, before.confirmed_at)
            assert judging.opened == 1
    assert fired == {WATCH_SOURCE_SILENT: 300.0, LINK_DEGRADED_SPEED: 4200.0}
    assert judging.opened == 2


def test_a_slow_port_is_found_among_its_peers_at_the_first_polls(store: EmbeddedStore) -> None:
    """c10: no history and nothing written; a management port is nobody's peer."""
    judging = Judging(store, {"d": LinkDegradedSpeed(LinkDegradedSpeedSettings())})
    ports = {f"mlx5_{n}/1": 400e9 for n in range(8)} | {"mlx5_3/1": 100e9, "mlx5_8/1": 25e9}
    place = PORT_INFO.labels.index("technology") - 2
    tail = [""] * (len(PORT_INFO.labels) - 2)
    for at in (0, 30, 60, 90):
        for name, speed in ports.items():
            technology = "roce" if name == "mlx5_8/1" else "ib"
            info = ("gpu-c1", name, *tail[:place], technology, *tail[place + 1 :])
            said = ((SPEED, speed), (UP, 1.0))
            facts = [(metric, ("gpu-c1", name), value) for metric, value in said]
            judging.poll(at + 0.1 * int(name[5]), *facts, (PORT_INFO, info, 1.0))
    (incident,) = judging.look(95)
    assert incident.culprit == Place("port", "gpu-c1/mlx5_3/1")
    assert "100 Gb/s instead of 400 Gb/s as its peers have" in incident.because
