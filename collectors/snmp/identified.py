"""What kind of device an agent speaks for: its sysObjectID, and the profile that fits it.

An agent without a sysObjectID, as a walk that was cut short, is known by the objects that it shows.
A card that manages a PDU or cooler has hardly more of the standard's MIBs than the old table of
interfaces, without names (ifXTable): where no profile knows such a device, that is told.
"""

from collections.abc import Generator
from dataclasses import dataclass

from collectors.maps import snmp_profiles
from collectors.maps.columns import Columns
from collectors.maps.places import Places
from collectors.protocols.snmp_columns import NONE, text
from collectors.snmp.asking import Answers, Part
from collectors.snmp.profiled import Profiled
from fabrichealth.model import Reason, SeriesTable

SYS_OBJECT_ID = "1.3.6.1.2.1.1.2"


@dataclass(slots=True)
class Identified:
    """The device behind one agent."""

    table: SeriesTable
    places: Places
    again: float
    """Seconds after which it is asked again what it is."""
    system: str = ""
    """Its sysObjectID."""
    supply: Profiled | None = None
    """What reads it, where a profile fits."""
    _due: float = 0.0
    _profile: str = ""
    fresh: bool = False
    """Whether it was asked in this poll."""

    def __post_init__(self) -> None:
        """Take the profile that the target names, if it does.

        Raises:
            SiteError: there is none of that name, or it is wrong.
        """
        if said := self.places.target.options.get("mapping", ""):
            snmp_profiles.find(said)

    def read(self, at: float) -> Part:
        """Ask what it is, if that is not known or old."""
        self.fresh = at >= self._due
        if not self.fresh:
            return
        answer = (yield (SYS_OBJECT_ID,)).get(SYS_OBJECT_ID, NONE)
        self.system = text(answer.values[0]) if answer.values else ""
        self._due = at + self.again
        said = self.places.target.options.get("mapping", "") or snmp_profiles.of_system(self.system)
        if not said and not self.system:
            said = yield from self._by_objects()
        if said != self._profile:
            self._profile = said
            self.supply = (
                Profiled(self.table, self.places, snmp_profiles.find(said), self.again)
                if said
                else None
            )

    def unknown(self, columns: Columns) -> None:
        """Tell that no profile knows it."""
        if self.fresh and self.system:
            labels = {"device": self.places.device}
            columns.refuse(Reason.UNSUPPORTED, "sysObjectID", labels, f"no profile: {self.system}")

    def _by_objects(self) -> Generator[tuple[str, ...], Answers, str]:
        """Return the profile of which the device shows the first column."""
        signs = {
            f"{profile.tables[0].entry}.{profile.tables[0].read[0].column}": name
            for name, profile in snmp_profiles.shipped().items()
        }
        answers = yield tuple(signs)
        return next((name for oid, name in signs.items() if answers.get(oid, NONE).oids), "")
