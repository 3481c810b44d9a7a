"""One cause is one incident: whole devices, racks, scale-up links and what they take along."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator.faults import Reboot, SickReceiver, Xid
from emulator.plan import Plan
from fabrichealth.catalogue.ports import UP
from fabrichealth.kinds import DEVICE_DOWN, LINK_DOWN, LINK_SUBHEALTHY, IncidentKind, Severity
from fabrichealth.model import Place, Port
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.protocol import Store
from tests.analyzer.living import START, Life, Reading, clos, ports_up
from tests.analyzer.recorded import EPOCH, after

ANY_EXAMPLE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def dead_switch(
    at: float, hosts: int, lag: Mapping[str, float] | None = None, **more: object
) -> Life:
    """Return a life in which leaf-0 of a pod loses power; what a device tells is `lag` old."""
    topology = clos(hosts)

    def law(device: str, elapsed: float) -> list[Reading]:
        dark = elapsed - (lag or {}).get(device, 0.0) >= at
        if dark and device == "leaf-0":
            return []
        return ports_up(topology, device, lambda end: dark and end.port == "eth0")

    return Life(topology=topology, law=law, **more)  # type: ignore[arg-type]  # the store's, mostly


@settings(max_examples=4, deadline=None, suppress_health_check=ANY_EXAMPLE)
@given(
    seed=st.integers(0, 2**32),
    period=st.sampled_from([1.0, 10.0, 15.0, 60.0]),
    jitter=st.booleans(),
    stale=st.sampled_from([0.0, 0.8]),
)
def test_a_dead_switch_of_64_ports_is_one_incident_and_none_of_its_links_is_paged(
    seed: int, period: float, jitter: bool, stale: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    chance = np.random.default_rng(seed)
    names = [f"host-{n}" for n in range(64)] + ["leaf-0", "leaf-1"]
    phases = {name: float(chance.uniform(0, period)) for name in names}
    periods = {name: period * (chance.choice([1.0, 1.0, 2.0]) if jitter else 1.0) for name in names}
    lag = {name: float(chance.uniform(0, stale)) * period for name in names if name != "leaf-0"}
    store = EmbeddedStore.open(tmp_path_factory.mktemp("life") / "store.db")
    died = float(chance.uniform(8, 9)) * period
    life = dead_switch(
        died, 64, lag, store=store, periods=periods, phases=phases, every=max(period / 2, 1.0)
    ).until(died + 8 * period)
    store.close()
    (incident,) = life.open
    assert (incident.kind, incident.culprit) == (DEVICE_DOWN, Place("device", "leaf-0"))
    assert incident.severity is Severity.PAGE
    assert life.closed == []
    assert life.paged == {incident.incident: {"device.down leaf-0"}}
    assert incident.confirmed_at is not None
    assert incident.confirmed_at - START - died <= (5 + stale) * period + 10.0
    assert START + died <= incident.opened_at <= START + died + (2 + stale) * period
    links = {place.id for place in incident.victims if place.type == "link"}
    assert len(links) == 64


def test_a_link_of_a_switch_that_lives_is_not_held_back(store: EmbeddedStore) -> None:
    """Two polls down, and the page is there: its neighbours say that the switch is well."""
    topology = clos(8)

    def law(device: str, elapsed: float) -> list[Reading]:
        ill = {Port("host-3", "eth0"), Port("leaf-0", "3")}
        return ports_up(topology, device, lambda end: elapsed >= 100 and end in ill)

    periods = dict.fromkeys(topology.links_of, 10.0)
    life = Life(store, topology, law, periods).until(130)
    (incident,) = life.open
    assert incident.kind is LINK_DOWN
    assert incident.confirmed_at == START + 110  # read down at 100 and at 110


def test_a_link_that_was_ill_before_its_switch_died_stays_its_own_incident(
    store: EmbeddedStore,
) -> None:
    topology = clos(6)

    def law(device: str, elapsed: float) -> list[Reading]:
        ill = {Port("host-3", "eth0"), Port("leaf-0", "3")}
        if elapsed >= 1000 and device == "leaf-0":
            return []
        return ports_up(
            topology,
            device,
            lambda end: (end in ill and elapsed >= 100) or (end.port == "eth0" and elapsed >= 1000),
        )

    life = Life(store, topology, law, dict.fromkeys(topology.links_of, 20.0), every=20.0)
    life.until(1200)
    kinds = {(one.kind, one.culprit.id): one for one in life.open}
    assert kinds.keys() == {(LINK_DOWN, "host-3/eth0--leaf-0/3"), (DEVICE_DOWN, "leaf-0")}
    assert kinds[DEVICE_DOWN, "leaf-0"].opened_at == START + 1000


def dark_rack(store: Store, minutes: float, broken: bool = False) -> Life:
    """Return a life in which the eight hosts of r0 go dark after 5 min, one after the other.

    They come back after so many minutes, at most one cable stays out.
    """
    topology = clos(16)
    back = {f"host-{n}": 300 + n * 4 + minutes * 60 + n * 7 for n in range(8)}

    def is_dark(device: str, elapsed: float) -> bool:
        return device in back and 300 + int(device[5:]) * 4 <= elapsed < back[device]

    def law(device: str, elapsed: float) -> list[Reading]:
        def down(end: Port) -> bool:
            peer = topology.peer(end)
            assert peer is not None
            if broken and elapsed >= 300 and {"host-2/eth1"} & {str(end), str(peer)}:
                return True
            return is_dark(peer.device, elapsed)

        return [] if is_dark(device, elapsed) else ports_up(topology, device, down)

    return Life(store, topology, law, dict.fromkeys(topology.links_of, 20.0), every=20.0)


def test_a_rack_that_restarts_without_notice_pages_nobody(store: EmbeddedStore) -> None:
    life = dark_rack(store, minutes=8).until(2400)
    assert life.paged == {}
    said = [*life.closed, *life.open]
    assert [(one.kind, one.culprit) for one in said] == [(DEVICE_DOWN, Place("rack", "r0"))]
    assert said[0].suppressed_by == "boot:r0"


def test_a_rack_dark_for_more_than_half_an_hour_is_one_page(store: EmbeddedStore) -> None:
    life = dark_rack(store, minutes=50).until(2700)
    (incident,) = life.open
    assert (incident.kind, incident.culprit) == (DEVICE_DOWN, Place("rack", "r0"))
    assert incident.suppressed_by is None
    assert incident.confirmed_at is not None
    assert 1800 <= incident.confirmed_at - incident.opened_at <= 1840
    assert {place.id for place in incident.victims} >= {f"host-{n}" for n in range(8)}
    assert life.paged == {incident.incident: {"device.down r0"}}


def test_a_cable_that_stays_out_after_a_restart_is_a_page_when_the_grace_ends(
    store: EmbeddedStore,
) -> None:
    life = dark_rack(store, minutes=8, broken=True).until(2000)
    assert life.paged == {}
    life.until(2400)
    (said,) = life.paged.values()
    assert said == {"link.down host-2/eth1--leaf-1/2"}


def test_thirty_genuine_error_links_in_a_restarting_rack_are_still_told(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    """Of a rack that restarts half of the links lose data before, others after; all 30 page."""
    plan = Plan(racks=2, hosts_per_rack=8, accelerators=1, rails=4)
    rack = [host for host in plan.hosts if plan.rack(host) == "r01"]
    ports = [f"{host}/mlx5_{rail}/1" for host in rack for rail in range(4)][:30]
    faults = [Reboot(240, 480 + 5 * n, host) for n, host in enumerate(rack)]
    faults_all = [
        *faults,
        *(SickReceiver(60 if n % 2 else 700, 3600, port, symbol_errors=0.2)
          for n, port in enumerate(ports)),
    ]  # fmt: skip
    judge = after(store, tmp_path, faults_all, 18, plan)
    paged = [one for one in judge.ledger.incidents if one.confirmed_at and one.severity == 4]
    assert {one.kind for one in paged} == {LINK_SUBHEALTHY}
    assert len(paged) == len({one.culprit for one in paged}) == 30
    others = [one for one in judge.ledger.incidents if one not in paged]
    assert [one.suppressed_by for one in others] == [f"boot:{one.culprit}" for one in others]


def test_a_dying_scale_up_link_has_its_domain_among_its_victims(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    """One link retrains; then the other accelerators report xid 145, and that is no news."""
    plan = Plan(racks=1, hosts_per_rack=2)
    dying = f"{plan.accelerators_of(plan.hosts[0])[3]}/nvlink/2"
    everyone = tuple(name for host in plan.hosts for name in plan.accelerators_of(host))
    faults = [SickReceiver(60, 3600, dying, recoveries=0.02), Xid(900, 3600, everyone, 145)]
    judge = after(store, tmp_path, faults, 20, plan)
    (incident,) = judge.ledger.incidents
    assert incident.kind is LINK_SUBHEALTHY
    assert incident.culprit.type == "link"
    assert dying in incident.culprit.id
    assert {place.id for place in incident.victims} == set(everyone)
    assert incident.opened_at < EPOCH + 900


@pytest.mark.parametrize(("talks", "kind"), [(True, LINK_DOWN), (False, DEVICE_DOWN)])
def test_a_host_with_one_cable_is_told_from_that_cable_by_its_own_silence(
    talks: bool, kind: IncidentKind, store: EmbeddedStore
) -> None:
    topology = clos(4, leaves=1)

    def law(device: str, elapsed: float) -> list[Reading]:
        if device == "host-1" and elapsed >= 200 and not talks:
            return []
        ill = {Port("host-1", "eth0"), Port("leaf-0", "1")}
        return ports_up(topology, device, lambda end: elapsed >= 200 and end in ill)

    life = Life(store, topology, law, dict.fromkeys(topology.links_of, 10.0)).until(300)
    (incident,) = life.open
    assert incident.kind is kind
    assert bool(life.paged) is talks  # a host may only be restarting


def test_a_port_without_a_cable_in_the_topology_stands_for_itself(store: EmbeddedStore) -> None:
    def law(device: str, elapsed: float) -> list[Reading]:
        return [(UP, (device, "7"), float(elapsed < 100))]

    life = Life(store, clos(1), law, {"leaf-9": 10.0}).until(150)
    (incident,) = life.open
    assert incident.culprit == Place("port", "leaf-9/7")
