"""A link aggregation has no cable of its own: its members are the news, once."""

import numpy as np
import pytest

from analyzer.evidence.ends import is_bundle
from analyzer.judge import detectors
from analyzer.replaying import Replay
from fabrichealth.catalogue.ports import SPEED, UP
from fabrichealth.kinds import LINK_DOWN
from fabrichealth.model import Labels, Port
from fabrichealth.topology import Topology
from tests.analyzer.views import small_pod, store_of

POLLS, FALL = 60, 20
FELL = np.repeat([1.0, 0.0], [FALL, POLLS - FALL]).tolist()


@pytest.mark.parametrize("whole", [False, True], ids=["narrower", "down as well"])
def test_a_member_that_falls_is_one_incident_whatever_the_bundle_says(whole: bool) -> None:
    ill: Labels = ("host-0", "eth0")
    bundle: Labels = ("host-0", "bond0")
    up = {
        tuple(end): FELL if tuple(end) in {ill, ("leaf-0", "0")} else [1.0] * POLLS
        for link in small_pod().links.values()
        for end in link.ends
    }
    history = {(UP, labels): values for labels, values in up.items()}
    history[UP, bundle] = FELL if whole else [1.0] * POLLS
    history[SPEED, bundle] = np.repeat([8e11, 4e11], [FALL, POLLS - FALL]).tolist()
    chosen = {
        name: one
        for name, one in detectors().items()
        if name in {"link_down", "link_flapping", "link_degraded_speed"}
    }
    (incident,) = Replay(store_of(history, 30.0), small_pod(), chosen, every=60.0).run()
    assert (incident.kind, str(incident.culprit.id)) == (LINK_DOWN, "host-0/eth0--leaf-0/0")


@pytest.mark.parametrize(
    ("port", "bundle"),
    [("bond0", True), ("PortChannel101", True), ("Port-channel1.20", True), ("ae7", True),
     ("eth0", False), ("Ethernet48", False), ("aes0", False), ("roce/0", False)],
)  # fmt: skip
def test_a_bundle_is_known_by_its_name(port: str, bundle: bool) -> None:
    assert is_bundle(small_pod(), Port("host-0", port)) is bundle


def test_where_no_cable_is_written_a_bundle_is_all_that_is_known() -> None:
    assert not is_bundle(Topology(), Port("host-0", "bond0"))
