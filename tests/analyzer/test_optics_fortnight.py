"""Two weeks of modules, simulated: quiet on the healthy, each fault seen at three strengths."""

import numpy as np
import pytest

from analyzer.detectors.optics_degrading import OpticsDegrading, OpticsDegradingSettings
from analyzer.detectors.optics_overheating import OpticsOverheating, OpticsOverheatingSettings
from analyzer.evidence.optics.features import LaneFeatures
from analyzer.evidence.optics.fleet import Optics
from analyzer.evidence.optics.levels import Look
from analyzer.evidence.optics.quantities import BIAS, RX, SNR_MEDIA
from fabrichealth.kinds import Cause
from fabrichealth.model import Finding, Port
from tests.analyzer.lights import Ill, Lights, hours, port_of

DEGRADING = OpticsDegrading(OpticsDegradingSettings())
OVERHEATING = OpticsOverheating(OpticsOverheatingSettings())
DAYS = 14.0
STRENGTHS = (1.0, 2.0, 3.0)


def test_two_weeks_of_healthy_modules_are_quiet() -> None:
    lights = Lights(["dr4", "2xfr4", "sr8", "lpo", "aec"], modules=12, days=DAYS)
    warm = lights.sky.air
    assert np.ptp(warm) > 5.0  # the room does go up and down
    moments = hours(0.05, DAYS, 7.0)
    for detector in (DEGRADING, OVERHEATING):
        assert lights.judged(detector, moments) == []


class TestFaults:
    """One link of twelve has a fault from the second day on, at each of three strengths."""

    @pytest.mark.parametrize("fault", ["dirt", "bend", "failed", "firmware", "host", "heat"])
    def test_a_step_shows_in_its_own_feature_the_more_the_stronger(self, fault: str) -> None:
        shown = [self.shown(fault, strength, days=3.0) for strength in STRENGTHS]
        assert shown[0] >= 1.0
        assert shown == sorted(shown)

    @pytest.mark.parametrize("fault", ["ageing", "receiver"])
    def test_a_decline_shows_in_its_trend_the_more_the_stronger(self, fault: str) -> None:
        slopes = []
        for strength in STRENGTHS:
            ill = Ill(fault, strength, link=3)
            lights = Lights(["dr4"], 16, DAYS, [ill])
            optics = look(lights)
            quantity = BIAS if fault == "ageing" else SNR_MEDIA
            trend = optics.trend(quantity, Port.parse(port_of(lights, ill)), "2")
            assert trend is not None
            assert trend.proven
            slopes.append(abs(trend.per_day) * (1e3 if quantity is BIAS else 1.0))
        assert slopes[0] > 0.05
        if fault == "receiver":  # a laser's bias stops at what its driver can give
            assert slopes == sorted(slopes)

    @pytest.mark.parametrize("fault", ["reflection", "loose"])
    def test_unrest_shows_the_more_the_stronger(self, fault: str) -> None:
        found = []
        for strength in STRENGTHS:
            ill = Ill(fault, strength, link=3)
            lights = Lights(["dr4"], 16, 2.0, [ill])
            optics = look(lights, 1.5)
            unrest = optics[SNR_MEDIA if fault == "reflection" else RX].unrest
            mine = [optics.lanes.find(Port.parse(port_of(lights, ill)), lane) for lane in "1234"]
            found.append(max(float(unrest[place]) for place in mine if place is not None))
        assert found[0] > 0.2  # readings alone: below 0.1
        assert found == sorted(found)

    def shown(self, fault: str, strength: float, days: float) -> float:
        """Return how far its own quantity is off, in dB, in 4 K, or in tenths of the bias."""
        ill = Ill(fault, strength, link=3)
        lights = Lights(["dr4"], 16, days, [ill])
        module = look(lights).of(Port.parse(port_of(lights, ill)))
        assert module is not None
        lane = module.lanes["2"]
        if fault == "heat":
            assert module.temperature is not None
            return (module.temperature.change or 0.0) / 4.0
        return {
            "dirt": lost(lane, "rx_power"),
            "bend": lost(lane, "rx_power"),
            "failed": 10 * ((lane.bias_excess or 1.0) - 1.0) + max(lost(lane, "tx_power"), 0.0),
            "firmware": min(lost(lane, "snr_media"), lost(lane, "snr_host")),
            "host": lost(lane, "snr_host"),
        }[fault]


def lost(lane: LaneFeatures, quantity: str) -> float:
    """Return how far a quantity of a lane has fallen."""
    return lane.features[quantity].lost or 0.0


def look(lights: Lights, day: float | None = None) -> Optics:
    """Return the features at a day's beginning, or near the end of the record."""
    now = float(lights.at[-1]) + 10.0 if day is None else hours(day, day + 1, 24.0)[0]
    return Optics(lights.view(DEGRADING, now), Look(600.0, 900.0, 8))


CAUSES = {
    "dirt": (Cause.CONTAMINATED_CONNECTOR, "rx"),
    "bend": (Cause.DAMAGED_FIBER, None),
    "failed": (Cause.DECAYING_TRANSMITTER, "tx"),
    "firmware": (Cause.LOOSE_OR_BAD_MODULE, "rx"),
    "host": (Cause.HOST_ELECTRICAL, "tx"),
    "reflection": (Cause.CONTAMINATED_CONNECTOR, "rx"),
    "ageing": (Cause.DECAYING_TRANSMITTER, "tx"),
    "receiver": (Cause.DEGRADED_RECEIVER, "rx"),
}
SLOW = {"ageing", "receiver"}


@pytest.mark.parametrize("fault", CAUSES)
def test_cause_and_side_are_named(fault: str) -> None:
    ill = Ill(fault, 2.0, link=3)
    days = DAYS if fault in SLOW else 2.0
    lights = Lights(["dr4"], 16, days, [ill])
    moments = hours(0.5, 1.0, 6.0) + hours(1.1, days, 24.0 if fault in SLOW else 2.0)
    said = lights.judged(DEGRADING, moments)
    assert said, "nothing was said"
    assert {lights.topology.link_of[port(one)].id for _, one in said} == {lights.links[3].id}
    last = said[-1][1]
    cause, direction = CAUSES[fault]
    assert next(iter(last.causes)) == cause
    assert last.side == (Port.parse(port_of(lights, ill)) if direction else None)
    assert last.direction == direction


def test_a_hot_module_is_named_and_no_other() -> None:
    ill = Ill("heat", 2.0, link=3)
    lights = Lights(["dr4"], 16, 2.0, [ill])
    said = lights.judged(OVERHEATING, hours(0.5, 2.0, 3.0))
    assert {str(one.side) for _, one in said} == {port_of(lights, ill)}
    assert next(iter(said[-1][1].causes)) == Cause.MODULE_OVERHEATING


def test_a_dim_laser_bank_is_one_finding_with_its_ports_as_victims() -> None:
    ills = [Ill("bank", 2.0, link=number) for number in range(4)]
    lights = Lights(["cpo"], 24, 2.0, ills)
    said = lights.judged(DEGRADING, hours(0.9, 1.6, 0.5))
    _, last = said[-1]
    assert [at for at, _ in said].count(said[-1][0]) == 1
    assert next(iter(last.causes)) == Cause.SHARED_COMPONENT
    assert last.direction == "tx"
    assert {place.id for place in last.victims} | {lights.topology.link_of[port(last)].id} == {
        lights.links[number].id for number in range(4)
    }
    assert lights.links[0].bank in last.because


def port(finding: Finding) -> Port:
    """Return the port that a finding is about."""
    assert isinstance(finding.about, Port)
    return finding.about
