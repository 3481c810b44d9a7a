"""Racks, feeds and loops that a device of power or cooling speaks of, named by the contract.

A written name wins: the target's own `rack`, `loop` and `feed`, then the topology's. Where nothing
says, rack and loop have the device's name, a CDU's facility side is `NAME-facility`, and a feed is
`DEVICE/INLET` (contract 1).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from collectors.maps.names import device_name, port_name
from collectors.source import Target
from fabrichealth.catalogue.cooling import LOOP_INFO
from fabrichealth.model import Floats, Ids, SeriesTable
from fabrichealth.topology import Feed, Loop

FIRST_INLET = "1"


@dataclass(frozen=True)
class Places:
    """Names of what one device supplies."""

    target: Target

    @cached_property
    def device(self) -> str:
        """The device itself."""
        return device_name(self.target.subject)

    @cached_property
    def rack(self) -> str:
        """The rack that the device feeds or stands in."""
        topology = self.target.topology
        said = self.target.options.get("rack") or topology.rack_of(self.device)
        racks = {feed.rack for feed in self._feeds.values()}
        return said or (racks.pop() if len(racks) == 1 else "") or self.device

    @cached_property
    def loop(self) -> str:
        """The loop that the device drives, else that which cools its rack."""
        said = self.target.options.get("loop")
        if said:
            return said
        if self._loops:
            return self._loops[0].name
        topology = self.target.topology
        rack = topology.racks.get(self.rack)
        if rack is not None and rack.loop:
            return rack.loop
        cooled = [one.name for one in topology.loops.values() if self.rack in one.racks]
        return cooled[0] if len(cooled) == 1 else self.device

    @cached_property
    def facility(self) -> str:
        """The loop on the facility's side of the device."""
        written = self.target.topology.loops.get(self.loop)
        return (written.facility if written is not None else "") or f"{self.loop}-facility"

    @property
    def has_rack_alone(self) -> bool:
        """Whether what the device draws is what its rack draws: no other feed supplies it."""
        of_rack = [one for one in self.target.topology.feeds.values() if one.rack == self.rack]
        mine = {one.name for one in self._feeds.values()}
        if of_rack:
            return all(one.name in mine for one in of_rack)
        return self.rack == self.device

    def feed(self, *inlet: str) -> tuple[str, str]:
        """Return rack and feed behind an inlet, given by every name it goes by, best first."""
        for name in inlet:
            if name in self._feeds:
                found = self._feeds[name]
                return found.rack or self.rack, found.name
        said = self.target.options.get("feed")
        if said and inlet[0] == FIRST_INLET:
            return self.rack, said
        return self.rack, f"{self.device}/{port_name(inlet[0])}"

    def loop_infos(self, table: SeriesTable, series: Ids) -> tuple[Ids, Floats]:
        """Return the info series of the written loops that some series are of, each 1."""
        spoken = dict.fromkeys(
            table.labels(one)[0]
            for one in series.tolist()
            if table.metric(one).labels[:1] == LOOP_INFO.labels[:1]
        )
        written = [one for loop in spoken if (one := self.target.topology.loops.get(loop))]
        ids = table.intern_all(
            (
                LOOP_INFO,
                (one.name, "", one.fluid, " ".join(one.racks), self.device, one.control),
            )
            for one in written
        )
        return ids, np.ones(len(ids))

    @cached_property
    def _feeds(self) -> dict[str, Feed]:
        """Feeds that the device meters, by inlet."""
        return {
            one.meter.get("inlet", FIRST_INLET): one
            for one in self.target.topology.feeds.values()
            if one.meter is not None and one.meter.get("device") == self.device
        }

    @cached_property
    def _loops(self) -> list[Loop]:
        """Loops that the device drives; those that are another's facility side stand last."""
        loops = self.target.topology.loops.values()
        outer = {one.facility for one in loops}
        mine = [one for one in loops if one.device == self.device]
        return sorted(mine, key=lambda one: one.name in outer or one.kind == "facility")
