"""Devices that are dark, and what only looks so."""

import pytest

from analyzer.detectors.device_down import DeviceDown, DeviceDownSettings
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.metric import Metric
from fabrichealth.model import Finding, Labels, Place
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.views import START, History, small_pod, view_of

NAN = float("nan")
POLLS = 30


def down(polls: int) -> list[float]:
    return [1.0] * (POLLS - polls) + [0.0] * polls


def silent(polls: int, last: float = 1.0) -> list[float]:
    return [last] * (POLLS - polls) + [NAN] * polls


def pod(**states: list[float]) -> History:
    """Return a healthy pod; `device_port=states` replaces a port's, None leaves it unread."""
    history: dict[tuple[Metric, Labels], list[float]] = {
        (UP, (end.device, end.port)): [1.0] * POLLS
        for link in small_pod().links.values()
        for end in link.ends
    }
    for name, values in states.items():
        device, _, port = name.replace("__", "-").rpartition("_")
        history[UP, (device, port)] = values
    return history


def dark_leaf(hosts: int = 4, polls: int = 5) -> dict[str, list[float]]:
    """Return what is read when leaf-0 is dark: hosts say down, itself says nothing."""
    return {f"host__{n}_eth0": down(polls) for n in range(hosts)} | {
        f"leaf__0_{n}": silent(polls) for n in range(4)
    }


def judge(history: History, topology: Topology | None = None, **more: object) -> list[Finding]:
    detector = DeviceDown(DeviceDownSettings())
    view = view_of(detector, history, 10.0, topology or small_pod(), **more)  # type: ignore[arg-type]
    return list(detector.judge(view))


def test_all_its_peers_say_down_and_itself_nothing() -> None:
    (finding,) = judge(pod(**dark_leaf()))
    assert finding.about == Place("device", "leaf-0")
    assert len(finding.evidence) == 4
    assert START + 250 <= finding.since <= START + 251
    assert "all 4 peers that report" in finding.because


def test_one_peer_that_says_up_acquits_it() -> None:
    assert judge(pod(**dark_leaf(hosts=3))) == []


def test_its_own_word_that_a_cable_is_up_acquits_it() -> None:
    states = dark_leaf() | {"leaf__0_2": [1.0] * POLLS}
    assert judge(pod(**states)) == []


def test_a_switch_whose_agent_lives_but_whose_ports_are_all_down_is_dark() -> None:
    states = {f"host__{n}_eth0": down(5) for n in range(4)} | {
        f"leaf__0_{n}": down(5) for n in range(4)
    }
    (finding,) = judge(pod(**states))
    assert finding.about == Place("device", "leaf-0")


def test_peers_down_in_one_poll_only_are_waited_for() -> None:
    assert judge(pod(**dark_leaf(polls=1))) == []


def test_silent_peers_bear_no_witness_either_way() -> None:
    states = dark_leaf() | {"host__3_eth0": silent(10), "host__3_eth1": silent(10)}
    (finding,) = judge(pod(**states))
    assert len(finding.evidence) == 3


def test_nobody_who_speaks_is_no_witness_at_all() -> None:
    """An agent alone that does not answer is watch.source_silent, never device.down."""
    everything = {f"leaf__0_{n}": silent(10) for n in range(4)}
    assert judge(pod(**everything)) == []


def test_peers_that_were_disabled_bear_witness_of_work_alone() -> None:
    history = dict(pod(**dark_leaf()))
    for n in range(4):
        history[ADMIN_UP, (f"host-{n}", "eth0")] = [1.0] * 25 + [0.0] * 5
    (finding,) = judge(history)
    assert finding.detail == {"by_hand": 1.0}


def test_ports_that_were_never_up_accuse_nobody() -> None:
    states = {f"host__{n}_eth0": [0.0] * POLLS for n in range(4)}
    assert judge(pod(**states)) == []


def test_it_went_dark_with_its_last_ports_whatever_was_pulled_before() -> None:
    states = dark_leaf() | {"host__0_eth0": down(28)}
    (finding,) = judge(pod(**states))
    assert finding.since >= START + 250


@pytest.mark.parametrize("agent", ["silent", "speaks", "never read"])
def test_a_single_cable_accuses_only_a_device_that_fell_silent(agent: str) -> None:
    topology = Topology(
        [Device(name="leaf-0", role="switch"), Device(name="host-0", role="host")],
        [Link(a="leaf-0/0", b="host-0/eth0")],
    )
    history: dict[tuple[Metric, Labels], list[float]] = {(UP, ("leaf-0", "0")): down(8)}
    if agent != "never read":
        history[UP, ("host-0", "eth0")] = silent(8) if agent == "silent" else down(8)
    found = [str(one.about) for one in judge(history, topology)]
    assert found == (["host-0"] if agent == "silent" else [])


def test_while_nobody_speaks_it_stays_dark() -> None:
    (known,) = judge(pod(**dark_leaf()))
    quiet = {f"host__{n}_eth0": [*down(15)[:20], *[NAN] * 10] for n in range(4)}
    gone = {f"leaf__0_{n}": silent(15) for n in range(4)}
    (again,) = judge(pod(**quiet, **gone), before=[known])
    assert again.about == known.about


def test_the_first_peer_that_says_up_ends_it() -> None:
    (known,) = judge(pod(**dark_leaf()))
    states = dark_leaf() | {"host__2_eth0": [*down(8)[:28], 1.0, 1.0]}
    assert judge(pod(**states), before=[known]) == []
