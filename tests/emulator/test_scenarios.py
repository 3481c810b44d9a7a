"""Every scenario can be lived through, on the plan of the demo."""

import importlib
import pkgutil

import pytest

import emulator.scenarios
from emulator.fabric import Fabric
from emulator.plan import Plan
from emulator.scenario import World

PLAN = Plan(access=("sonic", "gnmi", "snmp", "eapi", "nvue"))
NAMES = [module.name for module in pkgutil.iter_modules(emulator.scenarios.__path__)]


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_is_lived_through(name: str) -> None:
    scenario = importlib.import_module(f"emulator.scenarios.{name}").SCENARIO
    plan = scenario.plan or PLAN
    faults = scenario.faults(plan)
    world = World(Fabric(plan, seed=1, now=0.0), faults)
    last = max([fault.at for fault in faults], default=0.0)
    told = [event for now in range(30, int(last) + 180, 90) for event in world.step(float(now))]
    assert all({"at", "kind", "scope"} <= event.keys() for event in told)
    assert all(state.rx_words > 0 for state in world.fabric.ports.values())


def test_an_evening_of_optics_leaves_each_ill_module_ill() -> None:
    scenario = importlib.import_module("emulator.scenarios.optics").SCENARIO
    world = World(Fabric(PLAN, seed=1, now=0.0), scenario.faults(PLAN))
    for now in range(30, 1200, 90):
        world.step(float(now))
    ill = [port.name for port in world.fabric.ports.values() if port.optical
           and port.optical.module.stresses]  # fmt: skip
    assert len(ill) == 6
