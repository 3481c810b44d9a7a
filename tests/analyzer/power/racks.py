"""A rack on two feeds, and what its meters say, written by hand."""

from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.judge import detectors
from fabrichealth.catalogue.accelerators import CLOCK, POWER, THROTTLED, UTILIZATION
from fabrichealth.catalogue.power import FEED_CURRENT, FEED_POWER, FEED_VOLTAGE
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Floats, Labels
from fabrichealth.topology import Device, Feed, Rack, Topology
from tests.analyzer.views import view_of

MINUTE = 60.0
Said = dict[tuple[Metric, Labels], Sequence[float]]


def rack(breaker: float = 63.0, limit: float = 130_000.0) -> Topology:
    """Return rack r1 with a host of two accelerators, on feeds A and B that carry each other."""
    return Topology(
        [
            Device(name="host-0", role="host", rack="r1"),
            *(Device(name=f"host-0-{n}", role="accelerator", host="host-0") for n in range(2)),
        ],
        racks=[Rack(name="r1", power_limit_watts=limit)],
        feeds=[
            Feed(name="r1-A", rack="r1", breaker_amperes=breaker, redundant_with="r1-B"),
            Feed(name="r1-B", rack="r1", breaker_amperes=breaker),
        ],
    )


def amperes(feed: str, values: Sequence[float] | Floats, phases: str = "123") -> Said:
    """Return the same current on each phase of a feed."""
    return {(FEED_CURRENT, ("r1", feed, phase)): list(values) for phase in phases}


def volts(feed: str, values: Sequence[float] | Floats, phases: str = "123") -> Said:
    """Return the same voltage on each phase of a feed."""
    return {(FEED_VOLTAGE, ("r1", feed, phase)): list(values) for phase in phases}


def watts(feed: str, values: Sequence[float] | Floats) -> Said:
    """Return the power of a feed."""
    return {(FEED_POWER, ("r1", feed)): list(values)}


def step(before: float, after: float, polls: int = 60, at: int = 40) -> list[float]:
    """Return a level that changes at a poll."""
    return [before] * at + [after] * (polls - at)


def flat(value: float, polls: int = 60) -> list[float]:
    """Return a level."""
    return [value] * polls


def noisy(value: float, share: float, polls: int, seed: int = 1) -> Floats:
    """Return a level that wanders by a share of it."""
    chance = np.random.default_rng(seed)
    return np.asarray(value * (1 + share * chance.standard_normal(polls)), np.float64)


def said(
    detector: str,
    *parts: Mapping[tuple[Metric, Labels], Sequence[float]],
    period: float = 30.0,
    topology: Topology | None = None,
    before: Sequence[Finding] = (),
) -> list[Finding]:
    """Return what a detector says of readings."""
    one = detectors()[detector]
    history = {key: values for part in parts for key, values in part.items()}
    view = view_of(one, history, period, topology or rack(), before=before)
    return list(one.judge(view))


def braking(left: float, polls: int = 60, at: int = 40, watts: bool = True) -> Said:
    """Return both accelerators of the rack, whose power is cut to a share at a poll."""
    found: Said = {}
    for number in range(2):
        device = f"host-0-{number}"
        found[THROTTLED, (device, "power_brake")] = step(0.0, 1.0, polls, at)
        found[CLOCK, (device,)] = step(1.98e9, 1.98e9 * max(left, 0.6), polls, at)
        found[UTILIZATION, (device,)] = flat(1.0, polls)
        if watts:
            found[POWER, (device,)] = step(1000.0, 1000.0 * left, polls, at)
    return found
