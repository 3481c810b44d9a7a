"""What makes optics.degrading speak, and each promise to stay quiet."""

from collections.abc import Sequence

import numpy as np
import pytest

from analyzer.detectors.optics_degrading import OpticsDegrading, OpticsDegradingSettings
from fabrichealth.catalogue.optics import (
    OPTICS_INFO,
    RX_POWER,
    TEMPERATURE,
    THRESHOLD,
    TX_BIAS,
    TX_FAULT,
    TX_POWER,
)
from fabrichealth.catalogue.ports import UP
from fabrichealth.kinds import Cause
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Floats, Labels, Port
from tests.analyzer.views import small_pod, view_of

PERIOD = 60.0
POLLS = 70
"""A reading a minute."""
ONSET = 45
DETECTOR = OpticsDegrading(OpticsDegradingSettings())
NEAR, FAR = ("host-0", "eth0"), ("leaf-0", "0")

History = dict[tuple[Metric, Labels], Sequence[float]]


def still(value: float) -> list[float]:
    return [value] * POLLS


def then(value: float, later: float, onset: int = ONSET) -> list[float]:
    """Return one value, and another from a poll on."""
    return [value if poll < onset else later for poll in range(POLLS)]


def pod() -> History:
    """Return eight ports of four lanes each whose modules are well."""
    history: History = {}
    for link in small_pod(hosts=2).links.values():
        for end in link.ends:
            port = tuple(end)
            history[UP, port] = still(1.0)
            history[TEMPERATURE, port] = still(45.0)
            for lane in "1234":
                history[RX_POWER, (*port, lane)] = still(-1.0)
                history[TX_POWER, (*port, lane)] = still(1.0)
                history[TX_BIAS, (*port, lane)] = still(0.06)
    return history


def judge(history: History, before: tuple[Finding, ...] = ()) -> list[Finding]:
    view = view_of(DETECTOR, history, PERIOD, small_pod(hosts=2), before=before)
    return list(DETECTOR.judge(view))


def test_dirt_before_a_receiver_is_told_with_both_ends_and_a_number() -> None:
    history = pod()
    history[RX_POWER, (*NEAR, "3")] = then(-1.0, -5.0)
    (found,) = judge(history)
    assert (found.side, found.direction, found.lane) == (Port(*NEAR), "rx", "3")
    assert next(iter(found.causes)) == Cause.CONTAMINATED_CONNECTOR
    assert found.score == pytest.approx(2.0)
    assert "4.0 dB below its usual -1.0 dBm" in found.because
    (line,) = found.evidence
    assert (line.metric, line.value, line.expected, line.unit) == (RX_POWER, -5.0, -1.0, "dbm")
    assert dict(line.labels) == {"device": "host-0", "port": "eth0", "lane": "3"}


def test_a_laser_is_blamed_where_it_starts_and_once_though_both_ends_see_it() -> None:
    history = pod()
    history[TX_POWER, (*FAR, "2")] = then(1.0, -3.0)
    history[RX_POWER, (*NEAR, "2")] = then(-1.0, -5.0)
    (found,) = judge(history)
    assert (found.side, found.direction) == (Port(*FAR), "tx")
    assert next(iter(found.causes)) == Cause.DECAYING_TRANSMITTER
    assert {line.metric for line in found.evidence} == {RX_POWER, TX_POWER}


def test_the_modules_own_limit_counts_without_any_past() -> None:
    history = pod()
    for lane in "1234":
        history[RX_POWER, (*NEAR, lane)] = still(-9.0)
    history[THRESHOLD, (*NEAR, "rx_power", "low", "warning")] = still(-7.0)
    (found,) = judge(history)
    assert "below its own limit of -7.0 dBm" in found.because
    assert found.score == pytest.approx(2.0)


def test_the_baseline_is_frozen_while_a_lane_is_ill() -> None:
    history = pod()
    for lane in "1234":
        history[RX_POWER, (*NEAR, lane)] = then(-1.0, -4.0)
    (found,) = judge(history)
    for lane in "1234":  # all that is left of the past is ill
        history[RX_POWER, (*NEAR, lane)] = still(-4.0)
    assert judge(history) == []
    (again,) = judge(history, (found,))
    assert again.since <= found.since
    assert "3.0 dB below its usual -1.0 dBm" in again.because


def test_a_transmitter_fault_that_the_module_flags_is_told() -> None:
    history = pod()
    history[TX_FAULT, (*NEAR, "4")] = then(0.0, 1.0)
    (found,) = judge(history)
    assert (found.lane, found.evidence[0].metric) == ("4", TX_FAULT)


def cycle() -> Floats:
    """Return a day's swing of temperature squeezed into the two hours."""
    return np.asarray(45.0 + 8.0 * np.sin(2 * np.pi * np.arange(POLLS) / POLLS))


def quiet_dip(history: History) -> None:
    history[RX_POWER, (*NEAR, "1")] = then(-1.0, -9.0, POLLS - 8)


def quiet_down(history: History) -> None:
    for port in (NEAR, FAR):
        history[UP, port] = then(1.0, 0.0)
        for lane in "1234":
            history[RX_POWER, (*port, lane)] = then(-1.0, -40.0)


def quiet_disabled(history: History) -> None:
    for lane in "1234":
        history[TX_POWER, (*FAR, lane)] = then(1.0, -40.0)
        history[TX_BIAS, (*FAR, lane)] = then(0.06, 0.0)
        history[RX_POWER, (*NEAR, lane)] = then(-1.0, -40.0)


def quiet_dac(history: History) -> None:
    for lane in "1234":
        for metric, value in ((RX_POWER, -40.0), (TX_POWER, -40.0), (TX_BIAS, 0.0)):
            history[metric, (*NEAR, lane)] = still(value)


def quiet_copper(history: History) -> None:
    """A cable that shows light although it has none."""
    history[OPTICS_INFO, (*NEAR, "V", "P", "S", "", "", "copper", "", "dac")] = still(1.0)
    history[RX_POWER, (*NEAR, "2")] = then(-1.0, -9.0)


def quiet_limits(history: History) -> None:
    for quantity, low in (("rx_power", -40.0), ("tx_power", 0.0), ("tx_bias", 0.0)):
        for level in ("warning", "alarm"):
            history[THRESHOLD, (*NEAR, quantity, "low", level)] = still(low)
            history[THRESHOLD, (*NEAR, quantity, "high", level)] = still(low)


def quiet_warmth(history: History) -> None:
    for link in small_pod(hosts=2).links.values():
        for end in link.ends:
            history[TEMPERATURE, tuple(end)] = cycle().tolist()
            for lane in "1234":
                swing = 0.06 * np.exp((cycle() - 45.0) / 60.0)
                history[TX_BIAS, (*end, lane)] = swing.tolist()


def quiet_part(history: History) -> None:
    """Firmware reads the light of all modules two and a half decibels lower."""
    for metric, labels in list(history):
        if metric is RX_POWER:
            history[metric, labels] = then(-1.0, -3.5)


def quiet_unused_lane(history: History) -> None:
    """A breakout uses two lanes of four."""
    for lane in "34":
        for metric, value in ((RX_POWER, -40.0), (TX_POWER, -40.0), (TX_BIAS, 0.0)):
            history[metric, (*NEAR, lane)] = still(value)


def quiet_insertion(history: History) -> None:
    """A module is put in, and is dim and cold for its first minutes."""
    for lane in "1234":
        values = then(-1.0, -6.0, POLLS - 12)
        values[ONSET : POLLS - 12] = [np.nan] * (POLLS - 12 - ONSET)
        history[RX_POWER, (*NEAR, lane)] = values


def quiet_length(history: History) -> None:
    """A long fibre: evenly dim since ever."""
    for lane in "1234":
        history[RX_POWER, (*NEAR, lane)] = still(-6.0)


def quiet_health(history: History) -> None:
    """Nothing happens."""


QUIET = {name: one for name, one in list(globals().items()) if name.startswith("quiet_")}


@pytest.mark.parametrize("name", QUIET)
def test_stays_quiet_where_it_says_so(name: str) -> None:
    history = pod()
    QUIET[name](history)
    assert judge(history) == []


def test_a_module_that_was_swapped_has_no_past_of_its_predecessor() -> None:
    history = pod()
    info = ("", "", "", "optical", "", "pluggable")
    gone, came = then(1.0, np.nan, 40), then(np.nan, 1.0, 40)
    history[OPTICS_INFO, (*NEAR, "V", "P", "OLD", *info[:2], *info[3:])] = gone
    history[OPTICS_INFO, (*NEAR, "V", "P", "NEW", *info[:2], *info[3:])] = came
    for lane in "1234":  # the new one is built dimmer
        history[RX_POWER, (*NEAR, lane)] = then(-1.0, -4.0, 40)
    assert judge(history) == []


@pytest.mark.parametrize("period", [30.0, 60.0, 300.0])
def test_the_period_does_not_move_the_verdict(period: float) -> None:
    history = pod()
    history[RX_POWER, (*NEAR, "3")] = then(-1.0, -4.0, POLLS - round(900.0 / period) - 1)
    view = view_of(DETECTOR, history, period, small_pod(hosts=2))
    (found,) = DETECTOR.judge(view)
    assert found.score == pytest.approx(1.5)
    assert view.now - found.since == pytest.approx(900.0, abs=2 * period)


SELDOM = 300.0
"""Many modules are read once in five minutes."""


def jumping(*dips: int) -> History:
    """Return the pod with light that falls by 1.8 dB for single polls in all lanes of one port."""
    history = pod()
    for lane in "1234":
        history[RX_POWER, (*NEAR, lane)] = [-2.8 if n in dips else -1.0 for n in range(POLLS)]
    return history


def seldom(history: History, before: tuple[Finding, ...] = ()) -> list[Finding]:
    view = view_of(DETECTOR, history, SELDOM, small_pod(hosts=2), before=before)
    return list(DETECTOR.judge(view))


def test_a_loose_plug_is_found_however_seldom_modules_are_read() -> None:
    (found,) = seldom(jumping(36, 42, 47, 55, 61, 67))
    assert found.about == Port(*NEAR)
    assert "goes up and down" in found.because
    assert next(iter(found.causes)) == Cause.LOOSE_OR_BAD_MODULE.value
    assert found.signs["comes_and_goes@host-0/eth0"]


def test_a_loose_plug_stays_found_through_a_quiet_hour() -> None:
    (known,) = seldom(jumping(36, 42, 47, 55, 61, 67))
    (still,) = seldom(jumping(36, 50), before=(known,))
    assert still.since == known.since
    assert seldom(jumping(20, 25, 30), before=(known,)) == []


@pytest.mark.parametrize("dips", [(66,), (60, 61, 62), (60, 63, 66), (38, 64)])
def test_a_plug_that_was_touched_is_not_loose(dips: tuple[int, ...]) -> None:
    assert seldom(jumping(*dips)) == []
