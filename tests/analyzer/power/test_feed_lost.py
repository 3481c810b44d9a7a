"""Feeds that are dead, and all that only looks so."""

import numpy as np
import pytest

from fabrichealth.kinds import Severity
from fabrichealth.model import Floats
from fabrichealth.topology import Device, Feed, Rack, Topology
from tests.analyzer.power.racks import amperes, flat, noisy, said, step, volts
from tests.analyzer.views import START

NAN = float("nan")


def test_a_feed_without_voltage_is_lost() -> None:
    (finding,) = said(
        "power_feed_lost",
        volts("r1-A", step(230.0, 0.0)),
        amperes("r1-A", step(24.0, 0.0)),
        volts("r1-B", flat(230.0)),
        amperes("r1-B", step(24.0, 47.0)),
    )
    assert (str(finding.about), finding.rank) == ("r1-A", Severity.PAGE)
    assert "0 V, 230 V before" in finding.because
    assert "r1-B carries up to 75% of its breaker alone" in finding.because
    assert finding.since == START + 40 * 30.0


def test_one_phase_without_voltage_is_named() -> None:
    (finding,) = said(
        "power_feed_lost", volts("r1-A", flat(230.0), "13"), volts("r1-A", step(230.0, 5.0), "2")
    )
    assert "on phase 2 of 3" in finding.because


def test_a_feed_whose_load_went_over_to_its_partner_is_lost() -> None:
    (finding,) = said(
        "power_feed_lost", amperes("r1-A", step(24.0, 0.2)), amperes("r1-B", step(22.0, 46.0))
    )
    assert str(finding.about) == "r1-A"
    assert "carries nothing now; r1-B carries 72 A more since then" in finding.because


def test_a_meter_that_dies_with_its_feed_is_no_mere_silence() -> None:
    (finding,) = said(
        "power_feed_lost", amperes("r1-A", step(24.0, NAN)), amperes("r1-B", step(22.0, 46.0))
    )
    assert "says nothing any more; r1-B carries 72 A more since then" in finding.because
    assert finding.since == START + 39 * 30.0


def test_a_meter_that_does_not_answer_is_none() -> None:
    assert said(
        "power_feed_lost", amperes("r1-A", step(24.0, NAN)), amperes("r1-B", flat(22.0))
    ) == []  # fmt: skip


def test_a_rack_that_is_switched_off_is_none() -> None:
    assert said(
        "power_feed_lost",
        *(volts(feed, flat(230.0)) for feed in ("r1-A", "r1-B")),
        *(amperes(feed, step(24.0, 0.0)) for feed in ("r1-A", "r1-B")),
    ) == []  # fmt: skip


def test_a_spare_that_carries_nothing_is_none() -> None:
    assert said(
        "power_feed_lost", amperes("r1-A", flat(0.1)), amperes("r1-B", step(22.0, 46.0))
    ) == []  # fmt: skip


def test_one_dead_reading_is_none() -> None:
    last = [*flat(230.0, 59), 0.0]
    assert said("power_feed_lost", volts("r1-A", last)) == []


def test_a_brown_out_is_none() -> None:
    assert said("power_feed_lost", volts("r1-A", step(230.0, 190.0))) == []


def test_a_loss_is_told_for_as_long_as_it_lasts() -> None:
    (first,) = said(
        "power_feed_lost",
        volts("r1-A", step(230.0, 0.0)),
        amperes("r1-B", step(24.0, 47.0)),
    )
    (again,) = said(
        "power_feed_lost", volts("r1-A", flat(0.0)), amperes("r1-B", flat(47.0)), before=[first]
    )
    assert again.since == first.since
    assert "230 V before" in again.because
    assert said("power_feed_lost", volts("r1-A", flat(230.0)), before=[again]) == []


def test_a_silent_one_is_told_for_as_long_as_it_lasts() -> None:
    (first,) = said(
        "power_feed_lost", amperes("r1-A", step(24.0, NAN)), amperes("r1-B", step(22.0, 46.0))
    )
    (again,) = said("power_feed_lost", amperes("r1-B", flat(46.0)), before=[first])
    assert (again.about, again.since) == (first.about, first.since)
    assert np.isfinite(again.at)


def test_a_feed_that_has_voltage_is_not_lost_whoever_carries_the_load() -> None:
    moved = {**amperes("r1-A", step(30.0, 0.5)), **amperes("r1-B", step(0.5, 30.0))}
    assert said("power_feed_lost", moved)
    assert not said(
        "power_feed_lost", moved, volts("r1-A", flat(230.0)), volts("r1-B", flat(230.0))
    )


def test_a_job_that_begins_long_after_a_meter_fell_silent_is_no_loss() -> None:
    silent = amperes("r1-A", [*[15.0] * 30, *[float("nan")] * 30])
    assert not said("power_feed_lost", silent, amperes("r1-B", step(15.0, 30.0, at=40)))
    assert said("power_feed_lost", silent, amperes("r1-B", step(15.0, 30.0, at=30)))


@pytest.mark.parametrize(
    "left", [pytest.param(0.0, id="its meter lives"), pytest.param(NAN, id="dies")]
)
def test_a_job_that_ended_shortly_before_hides_no_loss(left: float) -> None:
    (finding,) = said(
        "power_feed_lost",
        amperes("r1-A", [*flat(40.0, 40), *flat(12.0, 10), *flat(left, 10)]),
        amperes("r1-B", [*flat(40.0, 40), *flat(12.0, 10), *flat(24.0, 10)]),
    )
    assert "carried 36 A over its phases" in finding.because
    assert "r1-B carries 36 A more since then" in finding.because


def test_an_idle_rack_loses_its_feed_too() -> None:
    """Who carries 3 A of 63 A a phase."""
    (finding,) = said(
        "power_feed_lost", amperes("r1-A", step(2.8, 0.0)), amperes("r1-B", step(2.7, 5.5))
    )
    assert "carried 8 A over its phases, and carries nothing now" in finding.because


def test_a_little_load_that_ends_while_the_partner_swings_is_no_loss() -> None:
    swings = noisy(30.0, 0.1, 60)
    swings[40:43] = 32.0
    assert not said("power_feed_lost", amperes("r1-A", step(1.0, 0.0)), amperes("r1-B", swings))


@pytest.mark.parametrize(
    "left", [pytest.param(0.0, id="its meter lives"), pytest.param(NAN, id="dies")]
)
def test_a_feed_of_which_a_phase_is_not_used_is_lost_with_the_others(left: float) -> None:
    (finding,) = said(
        "power_feed_lost",
        amperes("r1-A", step(24.0, left), "12"),
        amperes("r1-A", step(0.0, left), "3"),
        amperes("r1-B", step(22.0, 46.0), "12"),
        amperes("r1-B", flat(0.0), "3"),
    )
    assert "carried 48 A over its phases" in finding.because
    assert "r1-B carries 48 A more since then" in finding.because


def training(seed: int, low: float, polls: int = 75) -> Floats:
    """Return the share of its power that a job draws: less in three of ten polls."""
    chance = np.random.default_rng(seed)
    share = np.where(chance.random(polls) < 0.3, low, 1.0)
    return np.asarray(share * (1 + 0.01 * chance.standard_normal(polls)), np.float64)


@pytest.mark.parametrize("low", [0.4, 0.6])
def test_an_agent_that_does_not_answer_while_training_swings_is_no_loss(low: float) -> None:
    """Whatever the partner does at that moment it does at others too."""
    for seed in range(12):
        share = training(seed, low)
        silent = np.where(np.arange(len(share)) >= 60, NAN, 30.0 * share)
        for polls in (64, 68, 75):
            assert not said(
                "power_feed_lost",
                amperes("r1-A", silent[:polls]),
                amperes("r1-B", (28.0 * share)[:polls]),
            )


@pytest.mark.parametrize("left", [0.0, NAN], ids=["its meter lives", "dies"])
def test_a_feed_is_lost_while_training_swings(left: float) -> None:
    share = np.tile([1.0, 1.0, 1.0, 1.0, 1.0, 0.6, 0.6, 0.6], 8)
    lost = np.arange(len(share)) >= 58  # in the middle of a swing to full power
    (finding,) = said(
        "power_feed_lost",
        amperes("r1-A", np.where(lost, left, 30.0 * share)),
        amperes("r1-B", np.where(lost, 60.0, 30.0) * share),
    )
    assert str(finding.about) == "r1-A"


@pytest.mark.parametrize("earlier", [3, 10])
def test_a_job_that_began_while_both_meters_were_away_is_no_loss(earlier: int) -> None:
    """They are read by one switch; that of the partner answers some polls earlier again."""
    a = [*flat(12.0, 40), *flat(NAN, 30), *flat(24.0, 20)]
    b = [*flat(12.0, 40), *flat(NAN, 30 - earlier), *flat(24.0, 20 + earlier)]
    for polls in range(66 - earlier, 80):
        assert not said(
            "power_feed_lost", amperes("r1-A", a[:polls]), amperes("r1-B", b[:polls])
        )  # fmt: skip


@pytest.mark.parametrize("phases", ["123", "3"])
def test_a_phase_on_which_current_flows_has_voltage_whatever_its_meter_says(phases: str) -> None:
    rest = "123".replace(phases, "")
    assert not said(
        "power_feed_lost",
        volts("r1-A", step(230.0, 0.0), phases),
        volts("r1-A", flat(230.0), rest),
        *(amperes(feed, flat(24.0)) for feed in ("r1-A", "r1-B")),
        volts("r1-B", flat(230.0)),
    )


def test_an_agent_that_starts_again_answers_zeros_for_a_while() -> None:
    """Nobody took over what it says is gone; if it stays so the load is gone with its feed."""
    told = [
        bool(
            said(
                "power_feed_lost",
                volts("r1-A", step(230.0, 0.0, 40 + polls)),
                amperes("r1-A", step(24.0, 0.0, 40 + polls)),
                volts("r1-B", flat(230.0, 40 + polls)),
                amperes("r1-B", flat(24.0, 40 + polls)),
                period=10.0,
            )
        )
        for polls in (2, 3, 10, 25)
    ]
    assert told == [False, False, False, True]


def test_a_loss_is_known_by_what_says_so() -> None:
    """So that 0 V are news to who called the silence of the meter false."""
    silent = [amperes("r1-A", step(24.0, NAN)), amperes("r1-B", step(22.0, 46.0))]
    (first,) = said("power_feed_lost", *silent)
    (then,) = said("power_feed_lost", volts("r1-A", step(230.0, 0.0)), before=[first])
    assert (first.grounds, first.witnesses) == (("lost",), ("silent meter",))
    assert (then.grounds, then.witnesses) == (("lost",), ("no voltage",))


def ring() -> Topology:
    """Return a rack on three feeds, each of which is carried by the next one written."""
    ends = zip("ABC", "BCA", strict=True)
    return Topology(
        [Device(name="host-0", role="host", rack="r1")],
        racks=[Rack(name="r1")],
        feeds=[
            Feed(name=f"r1-{one}", rack="r1", breaker_amperes=63, redundant_with=f"r1-{next_}")
            for one, next_ in ends
        ],
    )


@pytest.mark.parametrize("lost", "ABC")
@pytest.mark.parametrize("voltage", [True, False])
def test_one_of_three_feeds_is_lost_when_the_others_share_its_load(
    lost: str, voltage: bool
) -> None:
    others = [one for one in "ABC" if one != lost]
    parts = [amperes(f"r1-{lost}", step(20.0, 0.1))]
    parts += [amperes(f"r1-{one}", step(20.0, 29.9)) for one in others]
    if voltage:
        parts.append(volts(f"r1-{lost}", step(230.0, 0.0)))
        parts += [volts(f"r1-{one}", flat(230.0)) for one in others]
    (finding,) = said("power_feed_lost", *parts, topology=ring())
    assert str(finding.about) == f"r1-{lost}"
    assert finding.because.endswith("carries up to 47% of its breaker")
    if not voltage:
        assert f"r1-{others[0]} and r1-{others[1]} carry 59 A more" in finding.because


def test_none_of_three_feeds_is_lost_when_load_falls_on_one_or_moves_a_little() -> None:
    less = [amperes("r1-A", step(20.0, 0.1)), amperes("r1-B", flat(20.0))]
    assert said("power_feed_lost", *less, amperes("r1-C", step(20.0, 24.0)), topology=ring()) == []


def test_a_feed_that_was_lost_itself_takes_nothing_over() -> None:
    """A at 40, B at 50: what C carries since is told of each from its own moment on."""
    a = amperes("r1-A", [20.0] * 40 + [0.0] * 20)
    b = amperes("r1-B", [20.0] * 40 + [30.0] * 10 + [0.0] * 10)
    c = amperes("r1-C", [20.0] * 40 + [30.0] * 10 + [60.0] * 10)
    found = {
        str(one.about): one.because for one in said("power_feed_lost", a, b, c, topology=ring())
    }
    assert "; r1-C carries 120 A more since then" in found["r1-A"]
    assert "; r1-C carries 90 A more since then" in found["r1-B"]


@pytest.mark.parametrize("polls", [2, 4, 5])
def test_what_a_feed_had_before_is_what_its_meter_said_however_seldom_it_is_read(
    polls: int,
) -> None:
    """Polled each five minutes, by an analyzer that started in the middle of it."""
    said_of = volts("r1-A", step(230.0, 0.0, 24, 24 - polls))
    (finding,) = said("power_feed_lost", said_of, period=300.0)
    assert "0 V, 230 V before" in finding.because
