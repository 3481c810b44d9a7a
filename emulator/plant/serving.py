"""How a plant answers: the unit and the supplies by Redfish, PDUs by SNMP, meters by Modbus.

The first rack's feeds end in rack PDUs with an SNMP card, those of the others in three-phase
meters that speak Modbus.
"""

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from emulator.fabric import Fabric
from emulator.facility import CDU
from emulator.modbus import HOLDING, Cells, ModbusServer, ModbusUnits
from emulator.plant.cdu import Cdu
from emulator.plant.electric import Feed
from emulator.plant.plant import Plant
from emulator.redfish.equipment import CRITICAL, OK, Connector, Pump, Sensor, Shelf, Site, Supply
from emulator.redfish.equipment import Cdu as Shown
from emulator.redfish.service import RedfishService
from emulator.snmp import Mib, SnmpAgent
from emulator.snmp_pdu import Phase, RackPdu

FLOAT = struct.Struct(">f")
CURRENTS, VOLTAGES, POWER, ENERGY = 2999, 3027, 3059, 3203
"""First register of each quantity of a three-phase meter, counted from 0."""
NOISE = {"flow": 0.004, "celsius": 0.05, "kilopascals": 0.4, "level": 0.0005}
"""What meters wander by: a share of the flow; kelvin, kilopascals, share of the reservoir."""


@dataclass(frozen=True)
class Served:
    """One target that a collector may read."""

    name: str
    source: str
    server: Any
    """With `start`, `stop` and `address`."""
    options: dict[str, str]


class PlantServing:
    """Shows a fabric's plant to whoever asks; `update` brings what is shown up to date."""

    def __init__(self, fabric: Fabric, now: Callable[[], float], seed: int = 5) -> None:
        self._fabric, self._now = fabric, now
        self._noise = random.Random(seed)  # noqa: S311 - repeatable noise
        self._site = Site(sensors={})
        self._pdus = {
            feed.name: RackPdu(feed.name, [Phase() for _ in feed.volts])
            for feed in self._plant.racks[self._names[0]].feeds
        }
        self._stamped = now()
        self._shelves = [(name, Site(shelves={}, sensors={})) for name in self._names]
        self._meters = [feed for name in self._names[1:] for feed in self._plant.racks[name].feeds]
        self.update()

    @property
    def _plant(self) -> Plant:
        return self._fabric.supplied()

    @property
    def _names(self) -> list[str]:
        return list(self._plant.racks)

    def targets(self) -> list[Served]:
        """Return everything that can be read, each with a server of its own."""
        unit = RedfishService(self._site, now=self._now)
        found = [Served(CDU, "redfish", unit, {"loop": CDU})]
        for number, (name, shelves) in enumerate(self._shelves):
            found.append(
                Served(f"shelf-{name}", "redfish", RedfishService(shelves, now=self._now),
                       {"rack": name})
            )  # fmt: skip
            for feed in self._plant.racks[name].feeds if number == 0 else ():
                agent = SnmpAgent(self._tell(feed.name))
                found.append(
                    Served(f"pdu-{feed.name}", "snmp", agent, {"rack": name, "feed": feed.name})
                )
        for feed in self._meters:
            units = ModbusUnits(self._only(feed))
            options = {"rack": feed.name.rpartition("-")[0], "feed": feed.name,
                       "mapping": "meter_three_phase"}  # fmt: skip
            found.append(Served(f"meter-{feed.name}", "modbus", ModbusServer(units), options))
        return found

    def _tell(self, feed: str) -> Callable[[], Mib]:
        def tell() -> Mib:
            self._pdus[feed].watt_hours = self._energy(self._plant.feeds[feed])
            return self._pdus[feed].mib()

        return tell

    def _energy(self, feed: Feed) -> float:
        """Return what a meter has counted, what flowed since the last step included (Wh)."""
        return feed.watt_hours + feed.watts * max(self._now() - self._fabric.now, 0.0) / 3600.0

    def _only(self, feed: Feed) -> Callable[[int], Cells | None]:
        """Return what a meter holds, which is unit 1 of its server and the only one."""
        return lambda unit: dict(_meter(feed, self._energy(feed))) if unit == 1 else None

    def update(self) -> None:
        """Show what is so now."""
        passed, self._stamped = self._now() - self._stamped, self._now()
        self._site.cdus["1"] = self._shown(self._plant.cdu)
        for name, pdu in self._pdus.items():
            feed = self._plant.feeds[name]
            for phase, volts, amperes in zip(
                pdu.phases, feed.shown_volts, feed.amperes, strict=True
            ):
                phase.volts, phase.amperes = volts, amperes
                phase.power_factor = feed.power_factor * feed.meter
            pdu.up += passed
        for name, site in self._shelves:
            rack = self._plant.racks[name]
            site.shelves["1"] = Shelf(
                {
                    one.name: Supply(one.input, one.output, 41.0,
                                     health="OK" if one.healthy else "Critical")
                    for one in rack.supplies
                }
            )  # fmt: skip
            site.sensors["Total"] = Sensor(rack.watts, "W", "Power")

    def _shown(self, unit: Cdu) -> Shown:
        water, cold = unit.hydraulics, unit.facility
        manifold = water.manifold
        branches = {
            name: Connector(
                flow=self._flow(flow + unit.bias.get(f"flow {name}", 0.0)),
                supply=self._celsius(unit.supply + unit.bias.get("supply", 0.0)),
                back=self._celsius(unit.returns.get(name, unit.back)),
                supply_kilopascals=self._pressure(unit.back_pressure + manifold),
                back_kilopascals=self._pressure(unit.back_pressure),
                heat_kilowatts=unit.heat.get(name, 0.0) / 1000.0,
                loop=name,
            )
            for name, flow in water.flows.items()
        }
        facility = Connector(
            flow=self._flow(cold.flow), supply=self._celsius(cold.celsius),
            back=self._celsius(cold.back), supply_kilopascals=self._pressure(320.0),
            back_kilopascals=self._pressure(250.0), valve_percent=100.0 * cold.valve,
        )  # fmt: skip
        zones = ["cdu", *water.branches]
        return Shown(
            primary={"1": facility},
            secondary=branches,
            pumps={
                pump.name: Pump(
                    100.0 * pump.speed if pump.running else 0.0,
                    3600.0 * pump.speed if pump.running else 0.0,
                    "Enabled" if pump.running else "StandbyOffline",
                )
                for pump in water.pumps
            },
            filters={"1": self._pressure(water.filter.pressure(unit.flow))},
            reservoirs={
                "1": 100.0 * (unit.level + self._noise.gauss(0.0, NOISE["level"]))
                + unit.bias.get("level", 0.0)
            },
            detectors={f"Rope-{zone}": CRITICAL if zone in unit.wet else OK for zone in zones},
            air=self._celsius(unit.air),
            humidity_percent=100.0 * unit.humidity,
            watts=sum(pump.watts(unit.flow / max(len(water.active), 1)) for pump in water.active),
        )

    def _flow(self, flow: float) -> float:
        return max(flow * (1.0 + self._noise.gauss(0.0, NOISE["flow"])), 0.0)

    def _celsius(self, celsius: float) -> float:
        return celsius + self._noise.gauss(0.0, NOISE["celsius"])

    def _pressure(self, kilopascals: float) -> float:
        return kilopascals + self._noise.gauss(0.0, NOISE["kilopascals"])


def _meter(feed: Feed, watt_hours: float) -> list[tuple[tuple[int, int], int]]:
    """Return the registers of a three-phase meter: floats, the first word the high one."""
    words: list[tuple[tuple[int, int], int]] = []
    shown = [*zip(feed.shown_volts, feed.amperes, strict=True)]
    for number, (volts, amperes) in enumerate(shown):
        words += _float(CURRENTS + 2 * number, amperes)
        words += _float(VOLTAGES + 2 * number, volts)
    words += _float(POWER, feed.watts * feed.meter / 1000.0)
    energy = round(watt_hours).to_bytes(8, "big")
    words += [
        ((HOLDING, ENERGY + n), int.from_bytes(energy[2 * n : 2 * n + 2], "big")) for n in range(4)
    ]
    return words


def _float(address: int, value: float) -> list[tuple[tuple[int, int], int]]:
    raw = FLOAT.pack(value)
    return [((HOLDING, address + n), int.from_bytes(raw[2 * n : 2 * n + 2], "big"))
            for n in range(2)]  # fmt: skip
