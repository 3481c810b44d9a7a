"""A port under a new name is the same port, and so is what was open about it."""

import pytest

from analyzer.incidents.renaming import found_now, renames, topology_now
from fabrichealth.catalogue.ports import LINK_DOWNS, UP
from fabrichealth.events import Event
from fabrichealth.kinds import LINK_DOWN, LINK_FLAPPING
from fabrichealth.model import Place, Port
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Link, Topology
from tests.analyzer.living import START, Life, Reading
from tests.analyzer.stories import Story, during, event, finding

OLD, NEW = "mlx5_2/1", "mlx5_3/1"


def renamed(at: float, before: str = OLD, after: str = NEW, device: str = "host-0") -> Event:
    return event("port_renamed", at, {"device": device}, **{"from": before, "to": after})


def site() -> Topology:
    devices = [Device(name="host-0", role="host"), Device(name="leaf-0", role="switch")]
    links = [
        Link(a=f"host-0/{OLD}", b="leaf-0/1", technology="ib"),
        Link(a="host-0/mlx5_0/1", b="leaf-0/2", technology="ib"),
        Link(a="host-0/mlx5_1/1", b="leaf-0/3", technology="ib"),
    ]
    return Topology(devices, links)


def test_a_link_goes_by_the_new_name_of_its_port_whoever_asked_for_the_old_one_before() -> None:
    written = site()
    assert f"host-0/{OLD}--leaf-0/1" in written.links
    now = topology_now(written, renames([renamed(900)]))
    assert f"host-0/{NEW}--leaf-0/1" in now.links
    assert now.peer(Port("leaf-0", "1")) == Port("host-0", NEW)
    assert now.links["host-0/mlx5_0/1--leaf-0/2"].technology == "ib"


@pytest.mark.parametrize("topology", [site(), Topology()], ids=["cabled", "not in the topology"])
def test_the_open_incident_goes_on_under_the_new_name_and_closes(
    topology: Topology, store: EmbeddedStore
) -> None:
    """Case c09's shape: the cable fails, the host reboots with another name for the port."""

    def law(device: str, elapsed: float) -> list[Reading]:
        if device == "host-0" and 600 <= elapsed < 900:
            return []
        broken = 300 <= elapsed < 900
        name = OLD if elapsed < 900 else NEW
        ports = {"host-0": [name, "mlx5_0/1", "mlx5_1/1"], "leaf-0": ["1", "2", "3"]}[device]
        return [(UP, (device, port), float(not (broken and port == ports[0]))) for port in ports]

    life = Life(store, topology, law, {"host-0": 20.0, "leaf-0": 20.0}, every=20.0).until(890)
    ours = next(one for one in life.open if "mlx5_2" in one.culprit.id)
    life.until(1000, [renamed(900)])
    assert ours.incident in {one.incident for one in life.open}
    life.until(900 + 1860)
    assert life.open == []
    closed = {one.incident: one for one in life.closed}
    assert "mlx5_3/1" in closed[ours.incident].culprit.id
    assert not [one for one in closed.values() if "mlx5_2" in one.culprit.id]
    assert closed[ours.incident].opened_at == ours.opened_at


def test_flaps_counted_under_the_old_name_stay_with_the_port(store: EmbeddedStore) -> None:
    def law(device: str, elapsed: float) -> list[Reading]:
        name = OLD if elapsed < 600 else NEW
        falls = min(elapsed // 60, 5.0) if elapsed < 600 else 0.0  # a reset, not a flap
        return [(LINK_DOWNS, (device, name), falls)]

    life = Life(store, Topology(), law, {"host-0": 10.0}).until(590)
    (before,) = life.open
    assert before.culprit == Place("port", f"host-0/{OLD}")
    life.until(1200, [renamed(600)])
    (incident,) = life.open
    assert (incident.incident, incident.kind) == (before.incident, LINK_FLAPPING)
    assert incident.culprit == Place("port", f"host-0/{NEW}")
    assert incident.last_seen < START + 600


def test_two_ports_may_swap_their_names(store: EmbeddedStore) -> None:
    script = during(LINK_DOWN, Port("host-0", "a"), (60, 240))
    other = during(LINK_DOWN, Port("host-0", "b"), (120, 240))
    events = [renamed(300, "a", "b"), renamed(300, "b", "a")]
    story = Story(lambda elapsed: [*script(elapsed), *other(elapsed)], events).until(600)
    opened = {one.culprit.id: one.opened_at - START for one in story.ledger.incidents}
    assert opened == {"host-0/b": 60.0, "host-0/a": 120.0}


def test_a_rename_is_followed_once_even_over_restarts() -> None:
    script = during(LINK_DOWN, Port("host-0", "a"), (60, 240))
    story = Story(script, [renamed(300, "a", "b"), renamed(480, "b", "a")]).until(360)
    story.restart()
    assert story.until(420).only.culprit.id == "host-0/b"
    story.restart()
    assert story.until(540).only.culprit.id == "host-0/a"
    story.restart()
    assert story.until(600).only.culprit.id == "host-0/a"


def test_names_are_those_of_one_device_and_a_broken_event_renames_nothing() -> None:
    script = during(LINK_DOWN, Port("host-0", "a"), (60, 900))
    events = [
        renamed(120, "a", "b", device="host-1"),
        event("port_renamed", 120, {"device": "host-0"}, **{"from": "a"}),
        event("port_renamed", 120, {}, **{"from": "a", "to": "b"}),
        event("port_renamed", 180, {}, **{"from": "host-0/x", "to": "host-0/y"}),
    ]
    assert Story(script, events).until(600).only.culprit.id == "host-0/a"


def test_a_link_goes_by_the_new_names_of_its_ends() -> None:
    script = during(LINK_DOWN, Port("host-0", "eth0"), (60, 240))
    story = Story(script, [renamed(300, "eth0", "eth9")]).until(600)
    incident = story.only
    assert incident.culprit == Place("link", "host-0/eth9--leaf-0/0")


def test_what_a_detector_merely_repeats_was_moved_already() -> None:
    """After a swap a repeated finding has the right name, though its readings are old."""
    moments = renames([renamed(300, "a", "b"), renamed(300, "b", "a")])
    repeated = finding(LINK_DOWN, Port("host-0", "b"), 60, 240)
    fresh = finding(LINK_DOWN, Port("host-0", "b"), 60, 240)
    later = finding(LINK_DOWN, Port("host-0", "b"), 60, 360)
    found = found_now([repeated, fresh, later], [repeated], moments)
    assert [str(one.about) for one in found] == ["host-0/b", "host-0/a", "host-0/b"]
