"""Storms from counters as switches keep them, without a topology and with one."""

import numpy as np

from analyzer.detectors.pfc_storm import PfcStorm, PfcStormSettings
from analyzer.viewing import Viewing
from fabrichealth.catalogue.congestion import (
    PFC_RX_FRAMES,
    PFC_RX_PAUSE,
    PFC_TX_FRAMES,
    QUEUE_OCCUPANCY,
)
from fabrichealth.catalogue.ports import SPEED
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Finding
from fabrichealth.topology import Topology
from tests.reference_store import ReferenceStore

START = 1_800_000_000.0
READINGS = dict[tuple[Metric, str, str], list[float]]


def storms(readings: READINGS, period: float = 1.0, device: str = "leaf-0") -> list[Finding]:
    """Judge a single switch; readings are of (metric, port, priority), poll by poll."""
    store = ReferenceStore()
    clock = store.table.clock("sonic", device)
    polls = max(len(values) for values in readings.values())
    series = store.table.intern_all(
        (metric, (device, port, priority) if priority else (device, port))
        for metric, port, priority in readings
    )
    for poll in range(polls):
        values = np.array([every[poll] for every in readings.values()])
        store.append([Batch(clock, START + poll * period, series, values)])
    detector = PfcStorm(PfcStormSettings())
    viewing = Viewing(store, {"pfc_storm": detector})
    viewing.advance(START + (polls - 1) * period + 0.1)
    return list(detector.judge(viewing.view(detector, Topology(), [], [])))


def rising(per_second: float, polls: int = 12) -> list[float]:
    return [per_second * poll for poll in range(polls)]


def test_frames_that_only_let_go_are_no_storm() -> None:
    assert storms(
        {
            (SPEED, "Ethernet4", ""): [400e9] * 12,
            (PFC_RX_FRAMES, "Ethernet4", "3"): rising(1e6),
            (PFC_RX_PAUSE, "Ethernet4", "3"): rising(0.0),
            (QUEUE_OCCUPANCY, "Ethernet4", "3"): [0.0] * 12,
        }
    ) == []  # fmt: skip


def test_a_queue_paused_all_the_time_is_one_whoever_faces_it() -> None:
    (finding,) = storms(
        {
            (SPEED, "Ethernet20", ""): [400e9] * 12,
            (PFC_RX_FRAMES, "Ethernet20", "3"): rising(23_000.0),
            (PFC_RX_PAUSE, "Ethernet20", "3"): rising(0.99),
            (QUEUE_OCCUPANCY, "Ethernet20", "3"): [4.2e6] * 12,
        }
    )
    assert str(finding.about) == "leaf-0/Ethernet20"
    assert "what faces leaf-0/Ethernet20" in finding.because


def test_a_storm_with_breaks_in_it_counts_by_its_share() -> None:
    on, share = 0.0, []
    for poll in range(12):
        on += 0.7 if poll % 2 else 0.5
        share.append(on)
    (finding,) = storms({(PFC_RX_PAUSE, "Ethernet0", "3"): share})
    assert finding.score == np.float64(finding.score) >= 1.0


def test_a_burst_is_none() -> None:
    assert storms({(PFC_RX_PAUSE, "Ethernet0", "3"): [0.0] * 9 + [0.9, 1.0, 1.0]}) == []


def test_frames_alone_bound_a_share_and_prove_no_storm() -> None:
    frames = {
        (SPEED, "eth0", ""): [400e9] * 12,
        (PFC_TX_FRAMES, "eth0", "3"): rising(25_000.0),
        (PFC_RX_FRAMES, "eth0", "3"): rising(25_000.0),
    }
    assert storms(frames, device="nic-c") == []
