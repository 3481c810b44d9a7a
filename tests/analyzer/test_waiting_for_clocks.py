"""How long links wait where minutes may lie between clocks, and when they do not."""

import pytest

from analyzer.detectors.device_down import DeviceDown, DeviceDownSettings
from analyzer.detectors.link_down import LinkDown, LinkDownSettings
from fabrichealth.catalogue.ports import UP
from tests.analyzer.views import START, History, small_pod, view_of

PERIOD = 30.0
LEAVES, HOSTS, POLLS = 4, 6, 80
NAN = float("nan")

States = dict[str, list[float]]


def since(poll: int, then: float = 0.0, back: int = POLLS) -> list[float]:
    """Return up, but something else from one poll until another."""
    return [1.0] * poll + [then] * (back - poll) + [1.0] * (POLLS - back)


def host(own: list[float], *peers: list[float]) -> States:
    """Return what host-1 says of all its cables, and what leaf after leaf says of it."""
    said = {f"host-1/eth{leaf}": own for leaf in range(LEAVES)}
    return said | {f"leaf-{leaf}/1": states for leaf, states in enumerate(peers)}


def judged(states: States, after: int) -> tuple[list[str], list[str]]:
    """Return the devices and the links that are down after so many polls."""
    topology = small_pod(LEAVES, HOSTS)
    history: History = {
        (UP, tuple(end)): states.get(str(end), [1.0] * POLLS)[:after]
        for link in topology.links.values()
        for end in link.ends
    }
    now = START + (after - 1) * PERIOD + 2.5
    dark, down = DeviceDown(DeviceDownSettings()), LinkDown(LinkDownSettings())
    found = [
        [
            str(one.about)
            for one in detector.judge(view_of(detector, history, PERIOD, topology, now=now))
        ]
        for detector in (dark, down)
    ]
    return found[0], found[1]


def test_all_peers_down_and_all_ends_up_is_one_device() -> None:
    states = host(since(POLLS), *[since(10)] * LEAVES)
    for after in (12, 14, 30):
        assert judged(states, after) == (["host-1"], [])


def test_all_ends_down_and_all_peers_up_waits_and_is_news_at_last() -> None:
    states = host(since(10), *[since(POLLS)] * LEAVES)
    assert [judged(states, after)[0] for after in (13, 20, 50)] == [[], [], []]
    assert [len(judged(states, after)[1]) for after in (13, 20, 39, 42)] == [0, 0, 0, LEAVES]


def test_a_host_fallen_silent_waits_for_a_leaf_that_has_not_told_yet() -> None:
    states = host(since(10, NAN), *[since(10)] * 3, since(POLLS))
    assert [len(judged(states, after)[1]) for after in (13, 20, 39, 42)] == [0, 0, 0, 3]


def test_links_that_come_back_one_by_one_are_no_news() -> None:
    states = host(since(10, NAN, 20), since(10, back=20), since(10, back=21), since(10, back=22))
    assert [judged(states, after)[1] for after in range(13, 26)] == [[]] * 13


@pytest.mark.parametrize(
    ("states", "news"),
    [
        pytest.param(host(since(POLLS), since(10)), 1, id="one peer of a host that speaks"),
        pytest.param(host(since(10, NAN), since(10)), 1, id="one peer of a silent host"),
        pytest.param(host(since(POLLS), *[since(10)] * 2), 2, id="half of its peers"),
        pytest.param(host([NAN] * POLLS, *[since(10)] * 3), 3, id="a host that is never read"),
        pytest.param(
            {f"leaf-0/{n}": since(10, NAN) for n in range(HOSTS)}
            | {f"host-{n}/eth0": since(10) for n in range(4)},
            4,
            id="a silent switch, most of whose peers fell",
        ),
    ],
)
def test_what_may_be_no_restart_is_news_at_once(states: States, news: int) -> None:
    assert len(judged(states, 15)[1]) == news


@pytest.mark.parametrize(("up", "dark"), [(1, True), (2, False)])
def test_few_peers_that_have_not_told_do_not_acquit_a_dark_leaf(up: int, dark: bool) -> None:
    states = {f"leaf-0/{n}": since(10, NAN) for n in range(HOSTS)}
    states |= {f"host-{n}/eth0": since(10) for n in range(up, HOSTS)}
    devices, _ = judged(states, 13)
    assert devices == (["leaf-0"] if dark else [])
    assert judged(states, 43)[0] == []  # for a quarter of an hour, and no longer


def test_a_peer_that_fell_and_came_back_does_acquit_it() -> None:
    states = {f"leaf-0/{n}": since(10, NAN) for n in range(HOSTS)}
    states |= {f"host-{n}/eth0": since(10) for n in range(HOSTS)}
    states["host-0/eth0"] = since(10, back=13)
    assert judged(states, 12)[0] == ["leaf-0"]
    assert judged(states, 15)[0] == []
