"""A bent trunk dims every cable in it, both ways, and no other."""

from emulator.fabric import Fabric
from emulator.faults import BentTrunk
from emulator.plan import Plan
from fabrichealth.topology.contradictions import Written

PLAN = Plan(racks=2, hosts_per_rack=3, accelerators=1, rails=2)
TRUNK = "mpo-leaf-02-r01"


def lost(fabric: Fabric) -> dict[str, float]:
    """Return by how many dB each optical port's light is lower than usual."""
    optical = [cable for cable in PLAN.cables if cable.medium == "optical"]
    return {
        port: fabric.optical(port).module.loss_db
        for cable in optical
        for port in (cable.a, cable.b)
    }


def test_all_cables_of_the_trunk_lose_light_at_both_ends_until_it_is_straight() -> None:
    fabric = Fabric(PLAN, 1, 1_800_000_000.0)
    before = lost(fabric)
    bent = BentTrunk(0.0, 60.0, TRUNK, loss_db=4.0)
    assert bent.begin(fabric) == []
    dim = {port for port, loss in lost(fabric).items() if loss == 4.0}
    inside = {
        port for cable in PLAN.cables if PLAN.trunk(cable) == TRUNK for port in (cable.a, cable.b)
    }
    assert dim == inside
    assert len(inside) == 2 * PLAN.hosts_per_rack
    bent.end(fabric)
    assert lost(fabric) == before


def test_trunks_are_written_in_the_topology() -> None:
    written = Written.model_validate(PLAN.topology())
    of_trunk = [link for link in written.links if link.bundle == TRUNK]
    assert len(of_trunk) == PLAN.hosts_per_rack
    assert {link.technology for link in written.links if link.bundle} == {"ib"}
