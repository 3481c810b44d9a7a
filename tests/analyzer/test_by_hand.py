"""Ports that somebody disabled are work: told with the reason, and never paged."""

from collections.abc import Iterable

import pytest

from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.kinds import DEVICE_DOWN, LINK_DOWN
from fabrichealth.model import Place, Port
from fabrichealth.store.embedded import EmbeddedStore
from tests.analyzer.living import START, Life, Reading, clos, ports_up

RAILS = 4
AT = 60.0


def lived(
    store: EmbeddedStore,
    disabled: Iterable[str],
    fallen: Iterable[str] = (),
    *,
    bundles: Iterable[str] = (),
    silent: Iterable[str] = (),
    broke: float = 120.0,
    seconds: float = 300.0,
) -> Life:
    """Return a life in which ports are disabled after a minute, and cables fall after two.

    `bundles` are link aggregations; a device of `silent` says nothing from the fall on.
    """
    topology = clos(6, RAILS)
    off = {Port.parse(name) for name in disabled}
    dark = {end for port in off & topology.link_of.keys() for end in topology.link_of[port].ends}
    cut = {end for name in fallen for end in topology.link_of[Port.parse(name)].ends}
    groups = {Port.parse(name) for name in bundles}

    def law(device: str, elapsed: float) -> list[Reading]:
        if device in silent and elapsed >= broke:
            return []
        said = ports_up(
            topology,
            device,
            lambda end: (end in dark and elapsed >= AT) or (end in cut and elapsed >= broke),
        )
        ports = [Port(*labels) for _, labels, _ in said]
        ports += [one for one in groups if one.device == device]
        said += [(UP, tuple(one), float(elapsed < AT)) for one in groups if one.device == device]
        return said + [
            (ADMIN_UP, tuple(end), float(not (end in off and elapsed >= AT))) for end in ports
        ]

    names = enumerate(sorted(topology.links_of))
    phases = {name: float(7 * n % 10) for n, name in names}
    periods = dict.fromkeys(topology.links_of, 10.0)
    return Life(store, topology, law, periods, phases).until(seconds)


SWITCH_SIDE = [f"leaf-{n}/0" for n in range(RAILS)]
HOST_SIDE = [f"host-0/eth{n}" for n in range(RAILS)]


@pytest.mark.parametrize("disabled", [SWITCH_SIDE, HOST_SIDE], ids=["switch side", "host side"])
def test_a_host_whose_ports_somebody_disabled_is_told_and_not_paged(
    store: EmbeddedStore, disabled: list[str]
) -> None:
    life = lived(store, disabled)
    (incident,) = life.open
    assert (incident.kind, incident.culprit) == (DEVICE_DOWN, Place("device", "host-0"))
    assert incident.suppressed_by == "admin:host-0"
    assert "host-0 is off by hand" in (incident.suppressed_note or "")
    assert all("is disabled" in line.says for line in incident.evidence)
    assert life.paged == {}


def test_a_link_that_one_end_disabled_is_no_incident(store: EmbeddedStore) -> None:
    assert lived(store, ["host-0/eth1"]).open == []


@pytest.mark.parametrize("group", ["host-0/bond0", "host-0/bond4"])
def test_an_aggregation_that_was_disabled_takes_its_cables_along(
    store: EmbeddedStore, group: str
) -> None:
    """Whose cables they are is not read: they fell with it."""
    life = lived(store, [group], HOST_SIDE, bundles=[group], broke=AT)
    assert [one.suppressed_by for one in life.open] == ["admin:host-0"]
    assert life.paged == {}


def test_a_cable_that_falls_long_after_an_aggregation_was_disabled_is_news(
    store: EmbeddedStore,
) -> None:
    life = lived(store, ["host-0/bond0"], ["host-0/eth1"], bundles=["host-0/bond0"], broke=180.0)
    assert [(one.kind, one.suppressed_by) for one in life.open] == [(LINK_DOWN, None)]


def test_the_last_cable_that_truly_falls_is_a_page_that_says_what_was_disabled(
    store: EmbeddedStore,
) -> None:
    life = lived(store, HOST_SIDE[:3], HOST_SIDE[3:])
    (incident,) = life.open
    assert (incident.kind, incident.culprit.id) == (LINK_DOWN, "host-0/eth3--leaf-3/0")
    assert incident.opened_at >= START + 120
    assert Place("device", "host-0") in incident.victims
    assert "host-0 is cut off by it; host-0/eth0, host-0/eth1, host-0/eth2 dis" in incident.because
    assert len(life.paged) == 1


def test_two_that_truly_fall_beside_disabled_ones_are_a_host_that_is_cut_off(
    store: EmbeddedStore,
) -> None:
    life = lived(store, SWITCH_SIDE[:2], HOST_SIDE[2:])
    (incident,) = life.open
    assert (incident.kind, incident.suppressed_by) == (DEVICE_DOWN, None)
    assert "host-0 is cut off" in incident.because
    assert "host-0/eth0, host-0/eth1 disabled by configuration" in incident.because


def test_a_host_that_dies_is_no_work_whatever_it_said_last(store: EmbeddedStore) -> None:
    """On its way down a host disables its ports; who is silent is believed no longer."""
    life = lived(store, HOST_SIDE, HOST_SIDE, silent=["host-0"], broke=80.0, seconds=400.0)
    (incident,) = life.open
    assert (incident.kind, incident.suppressed_by) == (DEVICE_DOWN, "boot:host-0")


def test_ports_that_are_enabled_again_and_stay_down_are_a_page(store: EmbeddedStore) -> None:
    life = lived(store, SWITCH_SIDE)
    topology = life.topology
    life.law = lambda device, elapsed: [
        *ports_up(topology, device, lambda end: "host-0" in str(topology.link_of[end].id)),
        *((ADMIN_UP, labels, 1.0) for _, labels, _ in ports_up(topology, device, lambda _: False)),
    ]
    (incident,) = life.until(500.0).open
    assert (incident.kind, incident.suppressed_by) == (DEVICE_DOWN, None)
    assert len(life.paged) == 1
