"""Each fault of optics has its signature, stronger with its strength, and ends with it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from emulator.fabric import Fabric
from emulator.light import Floats
from emulator.module_kinds import KINDS, ModuleKind
from emulator.optic_faults import FAULTS, Moments
from emulator.optics_fleet import physics
from emulator.optics_fleet.physics import End
from emulator.plan import Plan
from emulator.scenario import World
from emulator.stress import Stress

DAYS = 14.0
PLAN = Plan(racks=1, hosts_per_rack=2, accelerators=2, rails=1, access=("sonic",))
KIND_OF = {"bank": "cpo", "cable": "aec"}
"""Kinds for faults that a 400G-DR4 cannot have."""
CASES = [(name, KIND_OF.get(name, "dr4")) for name in FAULTS]


@dataclass
class Sick:
    """An end with a fault, the end that faces it, and both without."""

    here: End
    there: End
    well: End
    well_there: End


def sick(name: str, kind: ModuleKind, strength: float) -> Sick:
    """Return the last state of two weeks with a fault at one end, all else being equal."""
    seconds = np.arange(0, DAYS * physics.DAY, 1800.0)
    sky = physics.Weather(seconds, np.full(len(seconds), 30.0), np.full(len(seconds), 0.6))
    moments = Moments(seconds, sky.load, np.random.default_rng(3))
    fault = FAULTS[name](0.0, DAYS * physics.DAY, "leaf-01/Ethernet0", strength, lane=1)
    stress = fault.stress(kind, moments)
    here, there = physics.link(kind, sky, {0: stress, 1: stress if fault.both_ends else Stress()})
    well, well_there = physics.link(kind, sky, {0: Stress(), 1: Stress()})
    return Sick(here, there, well, well_there)


def rise(one: Floats, other: Floats) -> float:
    """Return by how much the most changed lane went up in the mean of the last day."""
    return float((one - other)[..., -48:].mean(axis=-1).max())


SIGNATURES: dict[str, Callable[[Sick], float]] = {
    "ageing": lambda it: rise(it.here.bias_ma, it.well.bias_ma),
    "failed": lambda it: rise(it.well_there.rx_dbm, it.there.rx_dbm),
    "dirt": lambda it: rise(it.well.rx_dbm, it.here.rx_dbm),
    "bend": lambda it: min(
        rise(it.well.rx_dbm, it.here.rx_dbm), rise(it.well_there.rx_dbm, it.there.rx_dbm)
    ),
    "reflection": lambda it: rise(it.well.snr_media, it.here.snr_media),
    "receiver": lambda it: rise(it.well.snr_media, it.here.snr_media),
    "heat": lambda it: rise(it.here.temperature, it.well.temperature),
    "host": lambda it: rise(it.well.snr_host, it.here.snr_host),
    "firmware": lambda it: min(
        rise(it.well.snr_host, it.here.snr_host), rise(it.well.snr_media, it.here.snr_media)
    ),
    "bank": lambda it: rise(it.well.tx_dbm, it.here.tx_dbm),
    "loose": lambda it: rise(it.well.rx_dbm, it.here.rx_dbm),
    "cable": lambda it: rise(it.well.snr_media, it.here.snr_media),
}
"""What each shows most, by how much."""


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_fault_shows_more_with_its_strength(name: str, kind: str) -> None:
    shown = [SIGNATURES[name](sick(name, KINDS[kind], strength)) for strength in (1, 2, 3)]
    assert 0 < shown[0] < shown[1] <= shown[2]


@pytest.mark.parametrize("name", ["reflection", "receiver", "host", "firmware"])
def test_what_is_not_light_leaves_light_as_it_is(name: str) -> None:
    it = sick(name, KINDS["dr4"], 3)
    assert np.array_equal(it.here.rx_dbm, it.well.rx_dbm)
    assert np.array_equal(it.here.tx_dbm, it.well.tx_dbm)
    assert np.array_equal(it.here.bias_ma, it.well.bias_ma)


@pytest.mark.parametrize("name", ["ageing", "dirt", "reflection", "receiver"])
def test_what_is_optical_leaves_the_host_side_as_it_is(name: str) -> None:
    it = sick(name, KINDS["dr4"], 3)
    assert np.array_equal(it.here.snr_host, it.well.snr_host)


def test_an_ageing_laser_is_held_by_its_control_until_the_limit_then_the_far_end_dims() -> None:
    mild, grave = sick("ageing", KINDS["dr4"], 1), sick("ageing", KINDS["dr4"], 3)
    limit = KINDS["dr4"].laser
    assert limit is not None
    assert rise(mild.here.bias_ma, mild.well.bias_ma) / 60 > 0.2
    assert np.allclose(mild.there.rx_dbm, mild.well_there.rx_dbm)
    assert grave.here.bias_ma.max() == limit.limit_ma
    assert rise(grave.well_there.rx_dbm, grave.there.rx_dbm) > 2
    assert np.array_equal(grave.here.rx_dbm, grave.well.rx_dbm)


def test_dirt_dims_neighbours_of_parallel_fibres_and_every_wave_of_one() -> None:
    parallel, shared = sick("dirt", KINDS["dr4"], 2), sick("dirt", KINDS["2xfr4"], 2)
    dim = (parallel.well.rx_dbm - parallel.here.rx_dbm)[:, -1]
    assert dim[1] > dim[0] == pytest.approx(dim[2])
    assert dim[3] < 0.2 * dim[1]
    assert np.ptp((shared.well.rx_dbm - shared.here.rx_dbm)[:, -1]) < 1e-9
    assert np.array_equal(parallel.there.rx_dbm, parallel.well_there.rx_dbm)


def test_a_bend_takes_more_of_longer_waves() -> None:
    it = sick("bend", KINDS["2xfr4"], 2)
    lost = (it.well.rx_dbm - it.here.rx_dbm)[:4, -1]
    assert (np.diff(lost) > 0).all()


def test_lanes_of_a_loose_connector_alternate() -> None:
    it = sick("loose", KINDS["dr4"], 2)
    worst = it.here.rx_dbm.argmin(axis=0)
    assert len(np.unique(worst)) == 4
    calm = (it.here.rx_dbm == it.well.rx_dbm).mean()
    assert 0.6 < calm < 0.8


def test_reflections_come_in_bursts() -> None:
    it = sick("reflection", KINDS["dr4"], 3)
    lost = it.well.snr_media - it.here.snr_media
    assert (lost > 1).any()
    assert (lost < 1e-9).mean() > 0.5


def test_a_dim_bank_takes_every_lane_at_once() -> None:
    it = sick("bank", KINDS["cpo"], 2)
    assert np.allclose(it.well_there.rx_dbm - it.there.rx_dbm, 3.0)


def test_the_port_behind_a_module_without_a_dsp_suffers_for_its_contacts() -> None:
    it = sick("host", KINDS["lpo"], 3)
    assert it.here.ber[-1] > 2 * it.well.ber[-1]
    assert np.array_equal(it.here.ber_media, it.well.ber_media)


def test_copper_has_no_dirt_and_dsps_only_have_firmware() -> None:
    assert not FAULTS["dirt"].fits(KINDS["aec"])
    assert not FAULTS["firmware"].fits(KINDS["lpo"])
    assert not FAULTS["ageing"].fits(KINDS["cpo"])
    assert FAULTS["bank"].fits(KINDS["cpo"])
    assert not FAULTS["dirt"].fits(KINDS["els"])


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if name not in KIND_OF])
def test_a_fabric_lives_through_a_fault_and_is_well_again(name: str) -> None:
    fabric = Fabric(PLAN, seed=3, now=0.0)
    port = next(one for one, state in fabric.ports.items() if state.ethernet is not None)
    world = World(fabric, [FAULTS[name](60.0, 3600.0, port, 3, lane=1)])
    for now in np.arange(5.0, 3600.0, 60.0):
        world.step(float(now))
    module = fabric.optical(port).module
    peer = fabric.optical(fabric.peer(fabric.ports[port]).name).module
    assert len(module.stresses) == 1
    assert len(peer.stresses) == FAULTS[name].both_ends
    world.step(3600.0)
    assert module.stresses == peer.stresses == {}


def test_dirt_in_a_fabric_is_what_its_receiver_sees() -> None:
    fabric = Fabric(PLAN, seed=3, now=0.0)
    port = next(one for one, state in fabric.ports.items() if state.ethernet is not None)
    world = World(fabric, [FAULTS["dirt"](0.0, 3600.0, port, 2, lane=0)])
    events = [event for now in range(5, 100, 5) for event in world.step(float(now))]
    light = fabric.optical(port).module.rx_dbm
    assert light[0] == pytest.approx(-4.0, abs=0.1)
    assert light[3] == pytest.approx(-1.0, abs=0.1)
    assert [event["kind"] for event in events] == ["part_touched"]


def test_a_weak_contact_at_one_host_is_mended_at_both_ends_and_leaves_the_light() -> None:
    fabric = Fabric(PLAN, seed=3, now=0.0)
    port = next(one for one, state in fabric.ports.items() if state.ethernet is not None)
    far = fabric.peer(fabric.ports[port]).name
    world = World(fabric, [FAULTS["host"](300.0, 3600.0, port, 3, lane=0)])
    for now in range(5, 300, 5):
        world.step(float(now))
    before = [fabric.optical(one).pre_fec_ber for one in (port, far)]
    for now in range(300, 600, 5):
        world.step(float(now))
    after = [fabric.optical(one).pre_fec_ber for one in (port, far)]
    assert min(after) > 1e-5 > 1e-7 > max(before)
    assert fabric.optical(port).module.ber == pytest.approx(fabric.optical(far).module.ber)
