"""Which series simulated loops have, in the order in which a poll brings them."""

from collections.abc import Sequence

from fabrichealth.catalogue import accelerators, cooling, power
from fabrichealth.metric import Metric
from fabrichealth.model import Ids, Labels, SeriesTable

PUMPS = 3

MAIN: tuple[tuple[Metric, tuple[str, ...]], ...] = (
    (cooling.FLOW, ("supply",)), (cooling.FLOW, ("return",)),
    (cooling.COOLANT_TEMPERATURE, ("supply",)), (cooling.COOLANT_TEMPERATURE, ("return",)),
    (cooling.PRESSURE, ("supply",)), (cooling.PRESSURE, ("return",)),
    (cooling.DIFFERENTIAL_PRESSURE, ("loop",)), (cooling.DIFFERENTIAL_PRESSURE, ("filter",)),
    *((metric, (f"{number + 1}",))
      for metric in (cooling.PUMP_SPEED, cooling.PUMP_POWER, cooling.PUMP_RUNNING)
      for number in range(PUMPS)),
    (cooling.VALVE_POSITION, ("1",)), (cooling.RESERVOIR_LEVEL, ()), (cooling.AIR_TEMPERATURE, ()),
    (cooling.AIR_HUMIDITY, ()), (cooling.LEAK, ("cdu",)),
)  # fmt: skip


def layout(table: SeriesTable, names: Sequence[str], branches: Sequence[str], chips: int) -> Ids:
    """Intern what a poll of these loops reads, in its order."""
    keys: list[tuple[Metric, Labels]] = []
    for name in names:
        keys += [(metric, (name, "", *tail)) for metric, tail in MAIN]
    for name in names:
        side = f"{name}-facility"
        keys.append((cooling.FLOW, (side, "", "supply")))
        keys += [(cooling.COOLANT_TEMPERATURE, (side, "", at)) for at in ("supply", "return")]
    for name in names:
        for branch in branches:
            keys += [
                (cooling.FLOW, (name, branch, "")),
                (cooling.COOLANT_TEMPERATURE, (name, branch, "return")),
                (power.RACK_POWER, (f"{name}-{branch}",)),
            ]
    for name in names:
        for branch in branches:
            for chip in range(chips):
                device = (f"{name}-{branch}-a{chip}",)
                keys += [(accelerators.TEMPERATURE, device), (accelerators.POWER, device)]
    return table.intern_all(keys)
