"""What kind of device an agent speaks for: its sysObjectID, and the profile that fits it.

A card that manages a PDU or cooler has hardly more of the standard's MIBs than the old table of
interfaces, without names (ifXTable). Where no profile knows the sysObjectID of such a one, it may
be known by the objects that it shows; where it is not, that is told.
"""

from dataclasses import dataclass

from collectors.maps import snmp_profiles
from collectors.maps.columns import Columns
from collectors.maps.places import Places
from collectors.protocols.snmp_columns import NONE, text
from collectors.snmp.asking import Part
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
    fresh: bool = False
    """Whether it was asked in this poll."""
    _due: float = 0.0

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
        self._due = at + self.again
        before, self.system = self.system, text(answer.values[0]) if answer.values else ""
        if self.supply is None or self.system != before:
            said = self.places.target.options.get("mapping", "")
            self._take(said or snmp_profiles.of_system(self.system))

    def by_objects(self) -> Part:
        """Look for a profile of which the device shows the first column.

        Makers sell each other's units, and name them anew.
        """
        signs = {
            f"{profile.tables[0].entry}.{profile.tables[0].read[0].column}": name
            for name, profile in snmp_profiles.shipped().items()
        }
        answers = yield tuple(signs)
        self._take(next((signs[oid] for oid in signs if answers.get(oid, NONE).oids), ""))

    def unknown(self, columns: Columns) -> None:
        """Tell that no profile knows it."""
        if self.system:
            labels = {"device": self.places.device}
            columns.refuse(Reason.UNSUPPORTED, "sysObjectID", labels, f"no profile: {self.system}")

    def _take(self, name: str) -> None:
        """Read by a profile from now on, or by none."""
        self.supply = None
        if name:
            profile = snmp_profiles.find(name)
            self.supply = Profiled(self.table, self.places, profile, self.again)
