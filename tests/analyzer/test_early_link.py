"""One link retrains for days; then 63 other accelerators report errors: one incident, early.

The shape of a real night: the slope of one link's recovery counter was there five days before
every accelerator of the rack reported xid 145 at once.
"""

import numpy as np

from fabrichealth.catalogue.accelerators import ERRORS
from fabrichealth.catalogue.ports import LINK_RECOVERIES, UP
from fabrichealth.kinds import LINK_SUBHEALTHY, Severity
from fabrichealth.model import Place
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Domain, Link, Topology
from tests.analyzer.living import START, Life, Reading

ACCELERATORS, LANES = 64, 2
SICK = 14
PERIOD, DAYS = 1800.0, 3
HOUR = 3600.0
STORM = (24 * DAYS - 1) * HOUR


def domain() -> Topology:
    """Return 64 accelerators in 8 hosts, each with a link to either of two switches."""
    names = [f"host-{n // 8}-{n % 8}" for n in range(ACCELERATORS)]
    devices = [Device(name=f"host-{n}", role="host", domain="pod") for n in range(8)]
    devices += [
        Device(name=name, role="accelerator", host=name[:6], domain="pod") for name in names
    ]
    devices += [Device(name=f"nvs-{n}", role="switch", domain="pod") for n in range(LANES)]
    links = [
        Link(a=f"{name}/nvlink/{lane}", b=f"nvs-{lane}/{number}", technology="nvlink",
             generation="nvlink5", medium="backplane", speed_gbps=400, lanes=2)
        for number, name in enumerate(names) for lane in range(LANES)
    ]  # fmt: skip
    return Topology(devices, links, [Domain(name="pod", accelerators=ACCELERATORS)])


def lived(store: EmbeddedStore, storm: float = STORM, *, sick: bool = True) -> Life:
    """Live until the storm (seconds after the start) is over, read each half hour."""

    def law(_: str, elapsed: float) -> list[Reading]:
        said: list[Reading] = []
        for number in range(ACCELERATORS):
            name = f"host-{number // 8}-{number % 8}"
            late = storm + PERIOD * (number != SICK)  # the others hear of it at the next poll
            said.append((ERRORS, (name, "xid:145"), float(elapsed >= late)))
            for lane in range(LANES):
                ill = (number, lane) == (SICK, 0) and elapsed >= 6 * HOUR and sick
                recoveries = np.floor(3.0 * (elapsed - 6 * HOUR) / HOUR) if ill else 0.0
                port = (name, f"nvlink/{lane}")
                said += [(UP, port, 1.0), (LINK_RECOVERIES, port, recoveries)]
        return said

    return Life(store, domain(), law, {"manager": PERIOD}, every=PERIOD).until(storm + 2 * PERIOD)


def test_it_is_one_incident_on_the_right_link_days_before_the_storm(
    store: EmbeddedStore,
) -> None:
    (incident,) = lived(store).open
    assert incident.kind is LINK_SUBHEALTHY
    assert incident.culprit == Place("link", "host-1-6/nvlink/0--nvs-0/14")
    assert incident.severity is Severity.TICKET
    assert incident.confirmed_at is not None
    assert START + STORM - incident.confirmed_at > 2 * 24 * HOUR
    victims = {place.id for place in incident.victims if place.type == "device"}
    assert len(victims) == ACCELERATORS
    rivals = [other for other in incident.alternatives if "accelerator.errors" in other.why_not]
    assert rivals
    assert all("began 3 d later and follows from it" in other.why_not for other in rivals)


def test_without_an_ill_link_nobody_is_made_its_victim(store: EmbeddedStore) -> None:
    found = lived(store, 3 * HOUR, sick=False).open
    assert all(one.culprit.type == "device" for one in found)
    assert all(one.severity is Severity.WATCH for one in found)
