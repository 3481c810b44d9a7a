"""Redfish: coolant distribution units, rack power, and the controllers of servers and switches.

One visit reads what a service tells of cooling loops, pumps, leaks, feeds, supplies, fans and
sensors: expanded collections where it offers them, else one resource after the other, never two at
a time. What metric reports and other resources tell of a sensor is not asked of it again. What
properties mean is data (`collectors/maps/redfish`), and so is where makers differ. A leak that an
event tells of counts at its own time, however short it was.

Address: https://HOST. `user` with a secret opens a session, which is used until it ends and closed
at the end; a secret alone is a bearer token. Captures: bodies, maps from place to body, and pushed
events.
"""

from pathlib import Path

from collectors.maps import redfish_rules
from collectors.maps.columns import Columns
from collectors.protocols.redfish import reports
from collectors.redfish import captures, info
from collectors.redfish.pushed import Pushed
from collectors.redfish.service import Service
from collectors.redfish.visits import Visits
from collectors.source import LOGIN, TRUST, Source, SourceSettings, Target
from collectors.transports.redfish import Pacing, RedfishClient
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, Size, seconds

LATEST = 1e10
"""Unix seconds of the year 2286: a later time stamp is none."""


class RedfishSettings(SourceSettings):
    """Redfish section of the configuration."""

    period: Duration = seconds(30)
    """How often readings are read; controllers are slow, and refresh sensors each 10 to 30 s."""

    timeout: Duration = seconds(25)
    """Give up on one visit after this long; what has come by then is kept."""

    answer: Duration = seconds(10)
    """Give up on one request after this long; a second one without an answer ends the visit."""

    spacing: Duration = seconds(0.02)
    """Pause between two requests to one controller; raise it where its own work suffers."""

    rediscover: Duration = seconds(3600)
    """How often the whole service is walked through again, for parts that came or went."""

    login: Duration = seconds(300)
    """How long no session is asked for after the service had none free."""

    events: bool = True
    """Listen to the events that the service pushes; takes a second connection."""

    ports: bool = False
    """Read network ports as well: link, speed and counters, for hosts that nothing else reads."""

    max_bytes: Size = 32 * 2**20
    """A body beyond this size is not read to its end, and counts as missing."""


class Redfish(Source):
    """One Redfish service."""

    settings_type = RedfishSettings
    settings: RedfishSettings
    schemes = ("https", "http")
    options = (*LOGIN, *TRUST)
    metrics = tuple(dict.fromkeys((*redfish_rules.metrics(), *info.METRICS)))

    def __init__(self, settings: RedfishSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._service = Service(target, table, self.clock, settings.stale_after)
        self._client: RedfishClient | None = None
        if target.address:
            pacing = Pacing(settings.answer, settings.spacing, settings.login)
            self._client = RedfishClient(target, pacing, settings.max_bytes)
            self._visits = Visits(
                self._client.get, self._service, settings.rediscover, settings.ports
            )
            self._pushed = Pushed(self._client.stream)

    async def read(self, at: float) -> Poll:
        """Read the service once.

        Raises:
            SourceUnavailable: no answer, or one that is not Redfish's.
        """
        if self._client is None:
            raise self.addressless
        columns = Columns(self.table)
        self._service.begin(at, columns)
        self._client.notes.clear()
        await self._visits.visit(at, columns, self.settings.patience)
        for note in self._client.notes:
            labels = {"device": self._service.device}
            columns.refuse(Reason.FAILED, "session", labels, note)
        if self.settings.events and self._visits.stream:
            self._pushed.listen(self._visits.stream)
        self._pushed.take(self._service, at, columns)
        return self._service.finish(at, columns)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read one poll from the bodies in these files.

        Raises:
            SourceUnavailable: none of them is a body of Redfish.
        """
        found = captures.bodies(files)
        if not found.found:
            why = next(iter(found.wrong.values()), "there is no file")
            raise SourceUnavailable(
                f"{files[0]}: no resource of Redfish ({why}); give bodies as the service answers, "
                "or a JSON map from place to body"
            )
        columns = Columns(self.table)
        service = self._service
        service.learn(found.resources)
        service.begin(at, columns)
        for path, body in found.resources.items():
            service.take(path, body)
        for report in found.reports:
            service.report(report, at)
        for event in found.events:
            service.hear(reports.messages(event), at, columns)
        for place, why in found.wrong.items():
            columns.refuse(Reason.MALFORMED, place, {"device": service.device}, why)
        return service.finish(at, columns)

    async def close(self) -> None:
        """Close the session and the connections."""
        if self._client is not None:
            await self._pushed.close()
            await self._client.close()

    def moment(self, files: list[Path]) -> float | None:
        """Return the newest time stamp in the bodies."""
        try:
            found = captures.moment(files)
        except SourceUnavailable:
            return None
        return found if found is not None and found < LATEST else None
