"""Faults of water and power: what happens to an emulated plant, at once or over some time."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from emulator.fabric import Fabric
from emulator.faults import Fault
from emulator.plant.electric import VOLTS, Feed
from emulator.plant.plant import Plant


@dataclass(frozen=True)
class PlantFault(Fault):
    """Something that grows from nothing to its full strength over some seconds."""

    over: float = 0.0

    @abstractmethod
    def _set(self, plant: Plant, share: float) -> None:
        """Be there to a share of its strength; 0 is as before."""

    def begin(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Begin, at full strength if it takes no time."""
        self._set(fabric.supplied(), 1.0 if self.over <= 0 else 0.0)
        return []

    def go_on(self, fabric: Fabric) -> None:
        """Grow."""
        grown = 1.0 if self.over <= 0 else (fabric.now - fabric.began - self.at) / self.over
        self._set(fabric.supplied(), min(max(grown, 0.0), 1.0))

    def end(self, fabric: Fabric) -> list[dict[str, Any]]:
        """Be mended."""
        self._set(fabric.supplied(), 0.0)
        return []


@dataclass(frozen=True)
class Clogged(PlantFault):
    """Plates of a branch clog: so many times its resistance."""

    branch: str = ""
    times: float = 2.0

    def _set(self, plant: Plant, share: float) -> None:
        plant.cdu.hydraulics.branches[self.branch].clogged = 1.0 + (self.times - 1.0) * share


@dataclass(frozen=True)
class FilterClogged(PlantFault):
    """The unit's filter clogs."""

    times: float = 4.0

    def _set(self, plant: Plant, share: float) -> None:
        plant.cdu.hydraulics.filter.clogged = 1.0 + (self.times - 1.0) * share


@dataclass(frozen=True)
class PumpWorn(PlantFault):
    """Both pumps lose lift and efficiency."""

    worn: float = 0.15

    def _set(self, plant: Plant, share: float) -> None:
        for pump in plant.cdu.hydraulics.pumps:
            pump.worn = self.worn * share


@dataclass(frozen=True)
class PumpStopped(PlantFault):
    """A pump stands still and the other carries on alone; without a name both do."""

    pump: str = "2"

    def _set(self, plant: Plant, share: float) -> None:
        for pump in plant.cdu.hydraulics.pumps:
            if self.pump in {pump.name, ""}:
                pump.running = share <= 0


@dataclass(frozen=True)
class Unbalanced(PlantFault):
    """Somebody turns the valve of a branch."""

    branch: str = ""
    valve: float = 0.6

    def _set(self, plant: Plant, share: float) -> None:
        plant.cdu.hydraulics.branches[self.branch].valve = 1.0 - (1.0 - self.valve) * share


@dataclass(frozen=True)
class Fouled(PlantFault):
    """The exchanger conducts less."""

    fouled: float = 0.5

    def _set(self, plant: Plant, share: float) -> None:
        plant.cdu.fouled = self.fouled * share


@dataclass(frozen=True)
class FacilityHot(PlantFault):
    """The building's water comes warmer."""

    kelvin: float = 14.0

    def _set(self, plant: Plant, share: float) -> None:
        plant.cdu.facility.celsius = 22.0 + self.kelvin * share


@dataclass(frozen=True)
class Leak(PlantFault):
    """Coolant leaves a branch ("": the unit); more than a little wets a rope."""

    branch: str = ""
    litres_an_hour: float = 6.0
    rope: bool = True

    def _set(self, plant: Plant, share: float) -> None:
        unit = plant.cdu
        zone = self.branch or "cdu"
        if share <= 0:
            unit.leaks.pop(self.branch, None)
            unit.wet.discard(zone)
            return
        unit.leaks[self.branch] = self.litres_an_hour / 60.0 * share
        if self.rope and self.litres_an_hour * share >= 1.0:
            unit.wet.add(zone)


@dataclass(frozen=True)
class Burst(PlantFault):
    """A hose of a branch ("": of the unit) comes off where no rope lies; mended, it is refilled."""

    branch: str = ""
    litres_a_minute: float = 30.0

    def _set(self, plant: Plant, share: float) -> None:
        unit = plant.cdu
        if share > 0:
            unit.leaks[self.branch] = self.litres_a_minute * share
            return
        if unit.leaks.pop(self.branch, None) is not None:
            unit.refill()


@dataclass(frozen=True)
class PoorContact(PlantFault):
    """The paste under a host's plates dries out: so many times their thermal resistance."""

    host: str = ""
    times: float = 2.0

    def _set(self, plant: Plant, share: float) -> None:
        plant.contact[self.host] = 1.0 + (self.times - 1.0) * share


@dataclass(frozen=True)
class Humid(PlantFault):
    """The room's air takes up water."""

    humidity: float = 0.85

    def _set(self, plant: Plant, share: float) -> None:
        plant.cdu.humidity = 0.42 + (self.humidity - 0.42) * share


@dataclass(frozen=True)
class SensorDrifts(PlantFault):
    """A meter of the unit shows so much more than the truth: flow, supply, back, level."""

    meter: str = "supply"
    by: float = 3.0

    def _set(self, plant: Plant, share: float) -> None:
        plant.cdu.bias[self.meter] = self.by * share


@dataclass(frozen=True)
class FeedFault(PlantFault):
    """Something that is wrong with one feed."""

    feed: str = ""

    def _set(self, plant: Plant, share: float) -> None:
        self._set_feed(plant.feeds[self.feed], share)

    @abstractmethod
    def _set_feed(self, feed: Feed, share: float) -> None:
        """Be there to a share of its strength."""


@dataclass(frozen=True)
class FeedLost(FeedFault):
    """The feed is dead; mended, its breaker is closed again."""

    def _set_feed(self, feed: Feed, share: float) -> None:
        dead = share > 0
        feed.volts = [0.0 if dead else VOLTS] * len(feed.volts)
        if not dead:
            feed.closed, feed.heat = True, 0.0


@dataclass(frozen=True)
class PhaseShifted(FeedFault):
    """Load hangs on the second phase."""

    more: float = 0.8

    def _set_feed(self, feed: Feed, share: float) -> None:
        feed.spread = [1.0, 1.0 + self.more * share, 1.0]


@dataclass(frozen=True)
class MeterDrifts(FeedFault):
    """The meter shows so much more power than there is."""

    by: float = 0.1

    def _set_feed(self, feed: Feed, share: float) -> None:
        feed.meter = 1.0 + self.by * share


@dataclass(frozen=True)
class Overloaded(PlantFault):
    """More hangs on a rack than its feeds were built for."""

    rack: str = ""
    watts: float = 80_000.0

    def _set(self, plant: Plant, share: float) -> None:
        plant.extra[self.rack] = self.watts * share


@dataclass(frozen=True)
class SupplyFails(PlantFault):
    """A power supply of a rack fails."""

    rack: str = ""
    supply: str = "3"

    def _set(self, plant: Plant, share: float) -> None:
        for one in plant.racks[self.rack].supplies:
            if one.name == self.supply:
                one.healthy = share <= 0


@dataclass(frozen=True)
class Capped(PlantFault):
    """A rack's cap is set lower."""

    rack: str = ""
    limit: float = 50_000.0
    was: float = 130_000.0

    def _set(self, plant: Plant, share: float) -> None:
        plant.racks[self.rack].limit = self.limit if share > 0 else self.was
