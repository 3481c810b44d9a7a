"""What is said of links: which estimator, which limits, which state, and when nothing yet."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from analyzer.detectors.link_subhealthy import LinkSubhealthy, LinkSubhealthySettings
from analyzer.evidence.link.gathering import Gathered, gather
from analyzer.evidence.link.states import STATES, standings
from analyzer.judge import Judge, detectors
from analyzer.ledger import Ledger, load, save
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    FEC_CORRECTED_BITS,
    FEC_CORRECTED_CODEWORDS,
    FEC_CORRECTED_SYMBOLS,
    FEC_UNCORRECTABLE_CODEWORDS,
    PRE_FEC_BER,
    SYMBOL_ERRORS,
    UP,
)
from fabrichealth.catalogue.verdicts import LINK_HEALTH, LINK_STATE, SECONDS_TO_VERDICT
from fabrichealth.kinds import Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Labels, Port
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.views import START, History, store_of, view_of

NEAR: Labels = ("host-0", "eth0")
PERIOD = 10.0
POLLS = 73
"""Twelve minutes."""

LINE = 425e9
"""Bits a second of 400 Gb/s with KP4."""


def fabric(hosts: int = 1, medium: str = "optical", fec: str = "rs544") -> Topology:
    devices = [Device(name="leaf-0", role="switch")]
    devices += [Device(name=f"host-{n}", role="host") for n in range(hosts)]
    links = [
        Link.model_validate({
            "a": f"host-{n}/eth0", "b": f"leaf-0/{n}", "technology": "roce", "medium": medium,
            "fec": fec, "speed_gbps": 400, "lanes": 4,
        })
        for n in range(hosts)
    ]  # fmt: skip
    return Topology(devices, links)


def rising(per_second: float, since: float = 0.0, polls: int = POLLS) -> list[float]:
    at = np.arange(polls) * PERIOD
    return [7.0 + value for value in np.floor(np.maximum(at - since, 0.0) * per_second)]


def judge(history: History, topology: Topology | None = None) -> list[Finding]:
    detector = LinkSubhealthy(LinkSubhealthySettings())
    return list(detector.judge(view_of(detector, history, PERIOD, topology or fabric())))


def known(history: History, topology: Topology | None = None) -> Gathered:
    detector = LinkSubhealthy(LinkSubhealthySettings())
    view = view_of(detector, history, PERIOD, topology or fabric())
    return gather(view, detector.settings.look())


@pytest.mark.parametrize(
    ("ber", "medium", "severity"),
    [
        pytest.param(1e-8, "optical", None, id="well"),
        pytest.param(5e-6, "optical", None, id="half of the warning over light"),
        pytest.param(2e-5, "optical", Severity.TICKET, id="beyond the warning"),
        pytest.param(1.5e-4, "optical", Severity.PAGE, id="beyond the error, all still repaired"),
        pytest.param(5e-6, "dac", Severity.TICKET, id="copper is held to a tenth"),
        pytest.param(2e-5, "aec", Severity.PAGE, id="an active cable too"),
    ],
)
def test_errors_before_fec(ber: float, medium: str, severity: Severity | None) -> None:
    found = judge({(FEC_CORRECTED_BITS, NEAR): rising(ber * LINE)}, fabric(medium=medium))
    assert [one.rank for one in found] == ([] if severity is None else [severity])
    for finding in found:
        assert finding.about == Port(*NEAR)
        # a cable of copper is no end's part, and most of its faults are the cable's
        assert finding.side == (Port(*NEAR) if medium == "optical" else None)
        assert f"{ber:.2g} per bit" in finding.because


@pytest.mark.parametrize(
    ("metric", "per_second", "words"),
    [
        (FEC_CORRECTED_BITS, 2e-5 * LINE, "corrected bits"),
        (FEC_CORRECTED_SYMBOLS, 2e-5 * LINE, "corrected symbols, at least as many bits"),
        (FEC_CORRECTED_CODEWORDS, 2e-5 * LINE, "corrected codewords, at least as many bits"),
    ],
)
def test_it_is_said_what_was_counted(metric: Metric, per_second: float, words: str) -> None:
    (finding,) = judge({(metric, NEAR): rising(per_second)})
    assert words in finding.because
    assert finding.evidence[0].metric is metric


def test_a_counter_is_believed_before_what_the_device_reports() -> None:
    history: History = {
        (FEC_CORRECTED_BITS, NEAR): rising(1e-8 * LINE),
        (PRE_FEC_BER, NEAR): [3e-5] * POLLS,
    }
    assert judge(history) == []
    (finding,) = judge({(PRE_FEC_BER, NEAR): [3e-5] * POLLS})
    assert "as the device reports" in finding.because


def test_what_a_device_reports_once_is_no_evidence() -> None:
    assert judge({(PRE_FEC_BER, NEAR): [1e-8] * (POLLS - 1) + [3e-5]}) == []


def test_what_has_just_begun_is_not_diluted_by_the_window() -> None:
    """Seventy seconds of 3e-5 after eleven good minutes: the window's mean is 3e-6."""
    since = (POLLS - 8) * PERIOD
    steady = np.array(rising(1e-8 * LINE))
    history: History = {
        (FEC_CORRECTED_BITS, NEAR): list(steady + rising(3e-5 * LINE, since)),
    }
    (finding,) = judge(history)
    assert finding.since == pytest.approx(START + since, abs=PERIOD)
    assert "3e-05 per bit" in finding.because


def test_codewords_that_will_be_lost_are_told_before_one_is() -> None:
    """One codeword in 1e7 gets a burst of a dozen symbols; none was lost, 1.6e-8 will be."""
    per_second = {str(n): 0.0 for n in range(16)}
    per_second |= {"0": 7e7, "1": 7e6, "2": 4e5, "3": 1e4, "4": 200.0, "5": 3.0}
    for n, mass in zip(range(6, 16), (25, 44, 66, 87, 105, 114, 114, 106, 91, 72), strict=True):
        per_second[str(n)] = 7.8 * mass / 1000
    history: History = {
        (FEC_CODEWORDS, (*NEAR, errors)): rising(rate) for errors, rate in per_second.items()
    }
    (finding,) = judge(history)
    assert finding.rank is Severity.TICKET
    assert "will be lost, 1.2 a second" in finding.because  # and not one in 1 s, or in 0 s
    assert "in bursts" in finding.because


def test_codewords_that_were_lost_page() -> None:
    (finding,) = judge({(FEC_UNCORRECTABLE_CODEWORDS, NEAR): rising(0.05)})
    assert finding.rank is Severity.PAGE
    assert "uncorrectable codewords" in finding.because


def test_both_ends_ill_accuse_what_they_share() -> None:
    both: History = {
        (FEC_CORRECTED_BITS, NEAR): rising(2e-5 * LINE),
        (FEC_CORRECTED_BITS, ("leaf-0", "0")): rising(3e-5 * LINE),
    }
    assert {str(max(one.causes, key=lambda c: one.causes[c])) for one in judge(both)} == {
        "damaged_fiber"
    }


@dataclass
class Told:
    """State, health and wait of the near end."""

    state: str
    health: float
    wait: float


def told(history: History, topology: Topology | None = None, *before: float) -> Told:
    gathered = known(history, topology)
    found = standings(gathered, {"host-0/eth0": list(before)} if before else {}, 1440.0)
    place = gathered.ends.find(Port(*NEAR))
    assert place is not None
    state = STATES[int(found.state[place])]
    return Told(state, float(found.health[place]), float(found.wait[place]))


@pytest.mark.parametrize(
    ("ber", "state", "health"),
    [(1e-7, "healthy", 1.0), (1e-5, "watch", 0.5), (3e-5, "subhealthy", 0.26),
     (1e-4, "subhealthy", 0.0), (3e-4, "drain", 0.0)],
)  # fmt: skip
def test_health_is_one_half_at_the_warning_and_nothing_at_the_error(
    ber: float, state: str, health: float
) -> None:
    found = told({(FEC_CORRECTED_BITS, NEAR): rising(ber * LINE * 1.0001)})
    assert found.health == pytest.approx(health, abs=0.01)
    assert found.state == state or ber == 1e-5  # exactly at a limit either is right


def test_not_enough_bits_is_said_with_the_minutes_that_lack() -> None:
    """At 400 Gb/s 1e-13, a tenth of the objective, takes 75 seconds without an error."""
    young: History = {(SYMBOL_ERRORS, NEAR): [3.0] * 4, (UP, NEAR): [1.0] * 4}
    found = told(young)
    assert found.state == "unknown"
    assert found.wait == pytest.approx(75 - 30, abs=1)
    assert np.isnan(found.health)
    assert told({(SYMBOL_ERRORS, NEAR): [3.0] * 10}).state == "healthy"


def test_a_port_that_says_nothing_of_errors_is_unknown_and_not_healthy() -> None:
    assert told({(UP, NEAR): [1.0] * POLLS}).state == "unknown"
    assert told({(UP, NEAR): [1.0] * (POLLS - 2) + [0.0] * 2}).state == "down"


def test_a_state_gets_better_only_after_a_dwell_of_calm() -> None:
    now = START + (POLLS - 1) * PERIOD
    calm: History = {(FEC_CORRECTED_BITS, NEAR): rising(1e-8 * LINE)}
    uneasy: History = {(FEC_CORRECTED_BITS, NEAR): rising(5e-6 * LINE)}
    assert told(calm, None, 3.0, 0.0).state == "subhealthy"
    assert told(calm, None, 3.0, now - 600).state == "subhealthy"
    assert told(calm, None, 3.0, now - 1500).state == "healthy"
    assert told(uneasy, None, 3.0, now - 1500).state == "subhealthy"


def test_a_port_far_above_its_peers_is_watched() -> None:
    """Nine links of one kind at 1e-9, one at 4e-8: no limit is near, but it stands out."""
    history: History = {
        (FEC_CORRECTED_BITS, (f"host-{n}", "eth0")): rising((4e-8 if n == 0 else 1e-9) * LINE)
        for n in range(10)
    }
    assert told(history, fabric(hosts=10)).state == "watch"
    assert judge(history, fabric(hosts=10)) == []


def test_states_and_their_dwell_survive_a_restart(tmp_path: Path) -> None:
    history: History = {(FEC_CORRECTED_BITS, NEAR): rising(2e-5 * LINE)}
    ledger = Ledger()
    chosen = {"link_subhealthy": detectors()["link_subhealthy"]}
    outcome = Judge(store_of(history, PERIOD), fabric(), chosen, ledger).judge(
        START + (POLLS - 1) * PERIOD + 1
    )
    said = {(one.metric, one.labels): one.value for one in outcome.verdicts}
    link = "host-0/eth0--leaf-0/0"
    assert said[LINK_STATE, (link, "host-0/eth0", "subhealthy")] == 1.0
    assert said[LINK_STATE, (link, "", "subhealthy")] == 1.0
    assert 0 < said[LINK_HEALTH, (link, "")] < 0.5
    assert not any(metric is SECONDS_TO_VERDICT for metric, _ in said)
    path = tmp_path / "ledger.json"
    save(ledger, path)
    assert load(path).kept == ledger.kept == {"link_subhealthy": {"host-0/eth0": [3.0, 0.0]}}
