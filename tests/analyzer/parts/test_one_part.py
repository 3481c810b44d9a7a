"""A trunk, a card, a lot: one incident with its links as victims, whatever fell ill first."""

import numpy as np
import pytest

from analyzer.detectors.parts_shared_component import (
    PartsSharedComponent,
    PartsSharedComponentSettings,
)
from analyzer.evidence.parts.illness import ERRORS
from analyzer.judge import detectors
from fabrichealth.catalogue.optics import RX_POWER, SNR, TX_POWER
from fabrichealth.catalogue.ports import SYMBOL_ERRORS, UP
from fabrichealth.kinds import PARTS_SHARED_COMPONENT, Severity
from fabrichealth.model import Finding, Place, Port
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.living import Life, Reading
from tests.analyzer.views import History, view_of

HOSTS, LEAVES, IN_A_TRUNK = 12, 2, 4
PERIOD = 60.0
POLLS = 84
ILL_FROM = 66
"""Polls: an hour of health makes a past."""


def hall() -> Topology:
    """Return hosts with a port to each leaf; four hosts share a trunk and a card of the leaf."""
    devices = [Device(name=f"leaf-{n}", role="switch") for n in range(LEAVES)]
    devices += [Device(name=f"host-{n}", role="host") for n in range(HOSTS)]
    links = [
        Link(a=f"host-{n}/eth{leaf}", b=f"leaf-{leaf}/{n}", technology="ib", speed_gbps=400,
             lanes=4, medium="optical", fec="rs544", generation="ndr",
             bundle=f"mpo-{leaf}-{n // IN_A_TRUNK}", card_b=f"leaf-{leaf}/card-{n // IN_A_TRUNK}")
        for leaf in range(LEAVES) for n in range(HOSTS)
    ]  # fmt: skip
    return Topology(devices, links)


TOPOLOGY = hall()
TRUNK = [link for link in TOPOLOGY.links.values() if link.bundle == "mpo-1-0"]
NEAR = [link.ends[1] for link in TRUNK]
FAR = [link.ends[0] for link in TRUNK]
EVERY = list(TOPOLOGY.link_of)


def after(lost: float, ports: list[Port], port: Port, healthy: float) -> list[float]:
    """Return a reading poll by poll that loses so much in some ports."""
    chance = np.random.default_rng(abs(hash(port)) % 1000)
    values = healthy + chance.normal(0, 0.03, POLLS)
    values[ILL_FROM:] -= lost * (port in ports)
    return [float(one) for one in values]


def errors(ports: list[Port], port: Port) -> list[float]:
    """Return symbol errors: ten a second in some ports, none in others."""
    polls = np.maximum(np.arange(POLLS) - ILL_FROM, 0)
    return [7.0 + 600.0 * float(n) * (port in ports) for n in polls]


def judge(
    erring: list[Port],
    dim: list[Port] | None = None,
    dull: list[Port] | None = None,
    down: list[Port] | None = None,
) -> list[Finding]:
    """Judge a hall: ports that err, receive less light, hear their own host worse, or are down."""
    history: dict[tuple[object, tuple[str, ...]], list[float]] = {}
    for port in EVERY:
        history[SYMBOL_ERRORS, tuple(port)] = errors(erring, port)
        history[RX_POWER, (*port, "1")] = after(3.0, dim or [], port, -1.5)
        history[TX_POWER, (*port, "1")] = after(0.0, [], port, 0.5)
        history[SNR, (*port, "1", "host")] = after(4.0, dull or [], port, 24.0)
        fallen = np.arange(POLLS) >= ILL_FROM
        history[UP, tuple(port)] = [float(port not in (down or []) or not ill) for ill in fallen]
    detector = PartsSharedComponent(PartsSharedComponentSettings())
    made: History = history  # type: ignore[assignment]  # its keys are wider than they are
    return list(detector.judge(view_of(detector, made, PERIOD, TOPOLOGY)))


def test_light_lost_both_ways_accuses_the_trunk() -> None:
    (one,) = judge([*NEAR, *FAR], dim=[*NEAR, *FAR])
    assert one.about == Place("bundle", "mpo-1-0")
    assert {place.id for place in one.victims} == {link.id for link in TRUNK}
    assert one.because.startswith("4 of 4 links of bundle mpo-1-0 are ill, 0 of 20 others")


def test_the_same_ports_without_any_loss_of_light_accuse_the_card() -> None:
    (one,) = judge(FAR, dull=NEAR)
    assert one.about == Place("card", "leaf-1/card-0")


def test_a_trunk_that_is_cut_is_one_part() -> None:
    (one,) = judge([], down=[*NEAR, *FAR])
    assert (one.about, one.rank) == (Place("bundle", "mpo-1-0"), Severity.PAGE)


def test_a_host_with_all_its_links_down_is_no_shared_part() -> None:
    ends = [end for link in TOPOLOGY.links_of["host-3"] for end in link.ends]
    assert judge([], down=ends) == []


@pytest.mark.parametrize("links", [1, 2])
def test_two_ill_links_are_not_yet_a_trunk(links: int) -> None:
    assert judge([*NEAR[:links], *FAR[:links]], dim=[*NEAR[:links], *FAR[:links]]) == []


def test_light_that_all_lost_alike_accuses_nothing() -> None:
    """A module's firmware reads a decibel less, everywhere."""
    assert judge([], dim=EVERY) == []


def test_ill_links_of_different_parts_stay_links() -> None:
    ends = [end for number in (0, 6, 17) for end in list(TOPOLOGY.links.values())[number].ends]
    assert judge(ends, dim=ends) == []


def test_errors_are_looked_at_as_those_of_single_links_are() -> None:
    """So that they are gathered once a pass for all detectors."""
    assert detectors()["link_subhealthy"].settings.look() == ERRORS


def test_a_bent_trunk_is_one_incident_and_its_links_are_victims(store: EmbeddedStore) -> None:
    def law(device: str, elapsed: float) -> list[Reading]:
        said: list[Reading] = []
        for port in (end for end in EVERY if end.device == device):
            ill = max(elapsed - 4000.0, 0.0) * (port in [*NEAR, *FAR])
            said += [
                (UP, tuple(port), 1.0),
                (SYMBOL_ERRORS, tuple(port), 7.0 + 10 * ill),
                (RX_POWER, (*port, "1"), -1.5 - 3.0 * (ill > 0)),
                (TX_POWER, (*port, "1"), 0.5),
            ]
        return said

    life = Life(store, TOPOLOGY, law, dict.fromkeys(TOPOLOGY.links_of, PERIOD), every=PERIOD)
    life.until(4000.0 + 8 * PERIOD)
    (one,) = life.open
    assert (one.kind, one.culprit) == (PARTS_SHARED_COMPONENT, Place("bundle", "mpo-1-0"))
    assert {place.id for place in one.victims} >= {link.id for link in TRUNK}
    assert life.closed == []
    assert life.paged == {one.incident: {"parts.shared_component mpo-1-0"}}
