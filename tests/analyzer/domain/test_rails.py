"""Hosts, rails and links told apart by what passes the ports of a job."""

import numpy as np
import pytest

from fabrichealth.catalogue.accelerators import UTILIZATION
from fabrichealth.catalogue.congestion import PFC_TX_PAUSE
from fabrichealth.catalogue.ports import TRANSMIT_WAIT, TX_BYTES
from fabrichealth.model import Finding, Floats
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.domain.pods import POLLS, Said, each, names, pod, said, started

HOSTS, RAILS = 8, 4
TOPOLOGY = pod(hosts=HOSTS, rails=RAILS)
EVERY = names(hosts=HOSTS)
BUSY = each(UTILIZATION, EVERY, 0.98, noise=0.005)
FROM = 20
"""The poll from which on something is slow."""


def counted(level: float, ill: float, seed: int) -> list[float]:
    """Return a counter whose rate changes, with noise of a twentieth."""
    chance = np.random.default_rng(seed)
    rate = np.where(np.arange(POLLS) < FROM, level, ill)
    noise = 1 + 0.05 * chance.standard_normal(POLLS)
    return [float(one) for one in np.cumsum(10.0 * np.maximum(rate * noise, 0.0))]


def carried(ill: dict[tuple[int, int], float]) -> Said:
    """Return bytes sent by each port; some change to another level."""
    return {
        (TX_BYTES, (f"host-{h}", f"eth{r}")): counted(20e9, ill.get((h, r), 20e9), 7 * h + r)
        for h in range(HOSTS)
        for r in range(RAILS)
    }


def pauses(ill: dict[tuple[int, int], float]) -> Said:
    """Return for how long each port stops its switch."""
    return {
        (PFC_TX_PAUSE, (f"host-{h}", f"eth{r}", "3")): counted(
            0.01, ill.get((h, r), 0.01), 7 * h + r
        )
        for h in range(HOSTS)
        for r in range(RAILS)
    }  # fmt: skip


def found(*parts: Said) -> list[Finding]:
    return said("domain_straggler", BUSY, *parts, topology=TOPOLOGY, events=[started("j1", EVERY)])


def test_a_link_that_carries_less_is_told_by_its_host_and_port() -> None:
    (finding,) = found(carried({(3, 1): 8e9}))
    assert str(finding.about) == "host-3"
    assert "host-3/eth1: it carries less than the others, 62.6 Gb/s beside 159" in finding.because
    assert {str(place) for place in finding.victims} == {"j1", "host-3/eth1"}


def test_a_rail_that_carries_less_on_all_hosts_accuses_its_switch() -> None:
    (finding,) = found(carried({(host, 2): 9e9 for host in range(HOSTS)}))
    assert str(finding.about) == "leaf-2"
    assert "its rail: it carries less" in finding.because


def test_a_host_that_stops_all_its_switches_is_accused_and_not_one_link() -> None:
    (finding,) = found(pauses({(5, rail): 0.5 for rail in range(RAILS)}), carried({}))
    assert str(finding.about) == "host-5"
    assert "it stops its switch, 50% of the time beside 1%" in finding.because


def test_credits_that_a_switch_lacks_accuse_the_host_that_it_faces() -> None:
    waits: Said = {
        (TRANSMIT_WAIT, (f"leaf-{r}", str(h))): counted(0.01, 0.6 if (h, r) == (2, 0) else 0.01, h)
        for h in range(HOSTS)
        for r in range(RAILS)
    }
    (finding,) = found(waits)
    assert str(finding.about) == "host-2"
    assert "leaf-0/2: its switch waits for it" in finding.because


QUIET: dict[str, tuple[Said, ...]] = {
    "all carry the same": (carried({}), pauses({})),
    "the whole fabric slows down": (
        carried({(h, r): 6e9 for h in range(HOSTS) for r in range(RAILS)}),),
    "a host sends less on all rails": (carried({(4, r): 4e9 for r in range(RAILS)}),),
    "a little less": (carried({(3, 1): 18e9}),),
    "nothing is read of ports": (),
}  # fmt: skip


@pytest.mark.parametrize("parts", QUIET.values(), ids=QUIET)
def test_no_port_holds_anybody_back(parts: tuple[Said, ...]) -> None:
    assert found(*parts) == []


def test_a_counter_that_began_anew_accuses_nobody() -> None:
    told = carried({})
    for rail in range(RAILS):
        course = np.array(told[TX_BYTES, ("host-1", f"eth{rail}")])
        course[40:] -= course[40]
        told[TX_BYTES, ("host-1", f"eth{rail}")] = course.tolist()
    assert found(told) == []


def beside(*extra: tuple[str, float], slow: bool = False) -> tuple[Topology, Said]:
    """Return the pod with ports besides, each (name, Gb/s), that carry next to nothing as ever."""
    devices, links = list(TOPOLOGY.devices.values()), list(TOPOLOGY.links.values())
    told = carried({(host, 2): 9e9 for host in range(HOSTS)} if slow else {})
    for number, (port, speed) in enumerate(extra):
        devices.append(Device(name=f"{port}-switch", role="switch"))
        for h in range(HOSTS):
            ends = {"a": f"host-{h}/{port}", "b": f"{port}-switch/{h}"}
            links.append(Link(**ends, technology="ib", speed_gbps=speed))
            told[TX_BYTES, (f"host-{h}", port)] = counted(1e8, 1e8, 100 * number + h)
    domains, racks = list(TOPOLOGY.domains.values()), list(TOPOLOGY.racks.values())
    return Topology(devices, links, domains, racks), told


OTHERS = {
    "storage of the same speed": (("stor0", 400.0),),
    "storage of less": (("stor0", 100.0),),
    "management as well": (("stor0", 100.0), ("mgmt0", 1.0)),
    "of the same speed all": (("stor0", 400.0), ("stor1", 400.0)),
}


@pytest.mark.parametrize("extra", OTHERS.values(), ids=OTHERS)
def test_ports_that_are_no_rails_neither_look_slow_nor_hide_who_is(
    extra: tuple[tuple[str, float], ...],
) -> None:
    topology, told = beside(*extra, slow=True)
    events = [started("j1", EVERY)]
    (finding,) = said("domain_straggler", BUSY, told, topology=topology, events=events)
    assert str(finding.about) == "leaf-2"


def test_ports_that_are_no_rails_are_not_slow_where_all_is_well() -> None:
    topology, told = beside(("stor0", 400.0))
    events = [started("j1", EVERY)]
    assert said("domain_straggler", BUSY, told, topology=topology, events=events) == []


def test_the_port_of_an_accelerator_that_is_not_in_the_job_is_not_slow() -> None:
    told = carried({})
    told[TX_BYTES, ("host-7", "eth3")] = counted(20e9, 0.2e9, 1)  # its job ended meanwhile
    events = [started("j1", EVERY[:-1])]
    assert said("domain_straggler", BUSY, told, topology=TOPOLOGY, events=events) == []


def test_a_rail_that_was_told_is_told_though_the_window_holds_no_better_time() -> None:
    slow = carried({(host, 2): 9e9 for host in range(HOSTS)})
    events = [started("j1", EVERY)]
    (first,) = said("domain_straggler", BUSY, slow, topology=TOPOLOGY, events=events)
    always = {
        (TX_BYTES, labels): counted(level, level, number)
        for number, (_, labels) in enumerate(slow)
        for level in [9e9 if labels[1] == "eth2" else 20e9]
    }

    def judged(*before: Finding) -> list[Finding]:
        return said(
            "domain_straggler", BUSY, always, topology=TOPOLOGY, events=events, before=before
        )

    assert judged() == []
    (again,) = judged(first)
    assert str(again.about) == "leaf-2"


POLL = np.arange(POLLS)
PAUSE = (POLL >= FROM) & (POLL < FROM + 15)


def course(level: Floats, seed: int) -> list[float]:
    """Return a counter with a rate of its own at each poll, with noise of a twentieth."""
    chance = np.random.default_rng(seed)
    noise = 1 + 0.05 * chance.standard_normal(POLLS)
    return [float(one) for one in np.cumsum(10.0 * np.maximum(level * noise, 0.0))]


def work(rails: Floats, last: Floats) -> Said:
    """Return bytes sent on every host by all rails but the last, and by that one."""
    return {
        (TX_BYTES, (f"host-{h}", f"eth{r}")): course(
            last if r == RAILS - 1 else rails, RAILS * h + r
        )
        for h in range(HOSTS)
        for r in range(RAILS)
    }


@pytest.mark.parametrize(
    ("idle", "storage"),
    [
        pytest.param(1e4, np.full(POLLS, 1e6), id="idle talk, storage does more"),
        pytest.param(3e7, np.where(PAUSE, 2e9, 1e6), id="a checkpoint is written in it"),
        pytest.param(1e4, np.full(POLLS, 1e4), id="idle talk on all"),
    ],
)
def test_a_port_for_storage_is_no_slow_rail_once_the_job_paused(
    idle: float, storage: Floats
) -> None:
    assert found(work(np.where(PAUSE, idle, 20e9), storage)) == []


def test_a_rail_that_falls_behind_once_the_job_paused_is_told() -> None:
    ill = np.select([PAUSE, POLL >= FROM + 15], [1e4, 9e9], 20e9)
    (finding,) = found(work(np.where(PAUSE, 1e4, 20e9), ill))
    assert str(finding.about) == f"leaf-{RAILS - 1}"


def test_a_link_that_relapses_is_told_though_it_was_slow_for_most_of_the_time_before() -> None:
    told = carried({})
    well = (POLL < 5) | ((POLL >= 27) & (POLL < 40))
    told[TX_BYTES, ("host-5", "eth2")] = course(np.where(well, 20e9, 10e9), 1)
    (finding,) = found(told)
    assert "host-5/eth2: it carries less" in finding.because
