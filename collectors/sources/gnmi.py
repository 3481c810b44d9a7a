"""Switches that stream over gNMI: OpenConfig's models, or SONiC's own tables.

The device samples by itself and sends what it has; a visit takes what came since the last one, and
starts again what broke. What a path means is data (`collectors/maps/gnmi`). `mapping: sonic` asks
for SONiC's databases instead, which are then read as the sonic source reads them.

Address: grpc://HOST:PORT or grpcs://HOST:PORT. Captures: JSON trees of OpenConfig, notifications as
gnmic prints them, or the values of SONiC's paths.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from collectors.captures import captured
from collectors.gnmi import captures
from collectors.gnmi.captures import Blob
from collectors.gnmi.openconfig import OpenConfig
from collectors.gnmi.sonic_tables import FIRST, SUBSCRIBE, SonicTables
from collectors.maps import gnmi_rules
from collectors.maps.columns import Columns
from collectors.maps.names import device_name
from collectors.protocols import gnmi_paths
from collectors.sonic import asking, namespace
from collectors.sonic.namespace import Namespace, Paces
from collectors.source import LOGIN, TRUST, Source, SourceSettings, Target
from collectors.transports.gnmi import SCHEMES, GnmiClient
from collectors.transports.gnmi_streams import Group, Heard
from fabrichealth.errors import SiteError, SourceUnavailable
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, seconds

OPENCONFIG, SONIC = "openconfig", "sonic"
MICROSECOND = 1e-6

CLOSEST = 1.0
"""Seconds between samples; what asks for more is refused by many devices."""

COUNTING = frozenset({"interfaces", "queues"})
"""Groups of OpenConfig's paths that are sampled as often as the device is visited: to read modules,
fans and neighbours each second would only burden it. SONiC's tables are understood together."""


class GnmiSettings(SourceSettings):
    """Gnmi section of the configuration."""

    origin: str = ""
    """Origin of the paths, for devices that ask for one (openconfig, sonic-db)."""

    first_channel: Literal["auto", "0", "1"] = "auto"
    """What the device calls the first channel of a transceiver; auto: 0 where it has a 0."""

    retry: Duration = seconds(600)
    """Paths that the device does not know are asked for again only after this long."""


class Gnmi(Source):
    """One device that streams over gNMI."""

    settings_type = GnmiSettings
    settings: GnmiSettings
    schemes = SCHEMES
    options = (*LOGIN, *TRUST, "mapping")
    closest: float | None = CLOSEST
    metrics = tuple(
        dict.fromkeys((*gnmi_rules.metrics(gnmi_rules.named(OPENCONFIG)), *namespace.METRICS))
    )

    def __init__(self, settings: GnmiSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        mapping = target.options.get("mapping", "") or OPENCONFIG
        if mapping not in {OPENCONFIG, SONIC}:
            raise SiteError(f"{target.name}: mapping {mapping!r} is not openconfig or sonic")
        known = gnmi_rules.named(OPENCONFIG)
        device = device_name(target.subject)
        first = None if settings.first_channel == "auto" else int(settings.first_channel)
        self._openconfig = OpenConfig(table, target, device, known, first)
        paces = Paces(0.0, 0.0, 0.0, settings.stale_after, MICROSECOND)
        self._sonic = Namespace(table, target, device, paces)
        self._unknown: set[str] = set()
        self._client: GnmiClient | None = None
        if target.address:
            groups = (
                [Group(name, name, paths, follows=True) for name, paths in SUBSCRIBE.items()]
                if mapping == SONIC
                else [
                    Group(name, "", paths, follows=name in COUNTING)
                    for name, paths in known.subscribe.items()
                ]
            )
            self._client = GnmiClient(
                target, tuple(groups), settings.origin, settings.period, settings.retry
            )

    async def read(self, at: float) -> Poll:
        """Take what came since the last visit, or wait for it.

        Raises:
            SourceUnavailable: nothing came.
        """
        if self._client is None:
            raise self.addressless
        loop = asyncio.get_running_loop()
        began = loop.time()
        await self._client.pace(self.paced)
        try:
            heard, silent = await self._client.news(began + self.settings.patience)
        finally:
            self.closest = CLOSEST if self._client.hurries else None
        columns = Columns(self.table)
        newest = max((one.arrived for one in heard.values()), default=began)
        came = at + newest - began
        poll = self._poll(self._blobs(heard, came, columns), columns, came)
        unknown = set(self._client.unknown)
        for group in sorted(unknown - self._unknown):  # said once, until it is asked for again
            columns.refuse(Reason.UNSUPPORTED, group, {"device": self.target.subject})
        self._unknown = unknown
        columns.missing.extend(silent)
        return poll

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read one poll from the replies in these files.

        Raises:
            SourceUnavailable: none of them is a reply of gNMI.
        """
        blobs = [blob for file in captured(files) for blob in _blobs(file.text)]
        columns = Columns(self.table)
        poll = self._poll(blobs, columns, at) if blobs else None
        if poll is None or not (poll.readings or poll.refused or poll.neighbors):
            raise SourceUnavailable(
                f"{files[0]}: nothing in it is of OpenConfig's models or of SONiC's tables"
            )
        return poll

    def moment(self, files: list[Path]) -> float | None:
        """Return the newest time stamp of the notifications in these files."""
        try:
            stamps = [blob.at for file in captured(files) for blob in _blobs(file.text)]
        except SourceUnavailable:
            return None
        return max(stamps, default=0.0) or None

    async def close(self) -> None:
        """End the streams."""
        if self._client is not None:
            await self._client.close()

    def _blobs(self, heard: dict[str, Heard], came: float, columns: Columns) -> Iterable[Blob]:
        """Yield what came, without what the device stamped long before."""
        for group, one in heard.items():
            for path, why in one.malformed:
                columns.refuse(Reason.MALFORMED, path, {"device": self.target.subject}, why)
            stale = 0
            for stamp, update in one.updates.values():
                if stamp and came - stamp > self.settings.stale_after:
                    stale += 1
                    continue
                yield Blob(update.target or group, update.path, update.value, stamp)
            if stale:
                what = f"{stale} of {len(one.updates)} updates"
                columns.refuse(Reason.STALE, group, {"device": self.target.subject}, what)

    def _poll(self, blobs: Iterable[Blob], columns: Columns, at: float) -> Poll:
        """Take blobs of either kind."""
        leaves: list[gnmi_paths.LeafValue] = []
        tables = SonicTables(self.target.options.get("port", "") or FIRST)
        neighbors: list[Neighbor] = []
        gathered = False
        for blob in blobs:
            if captures.is_openconfig(blob):
                leaves.extend(gnmi_paths.leaves(blob.path, blob.value))
            else:
                gathered |= tables.take(blob.target, blob.path, blob.value)
        self._openconfig.take(leaves, columns, neighbors)
        if gathered:
            content: Any = tables.databases()
            for _, part in self._sonic.parts(at, columns, neighbors, whole=True):
                asking.run(part, content)
        return columns.poll(self.clock, at, neighbors)


def _blobs(text: str) -> list[Blob]:
    return [blob for document in captures.documents(text) for blob in captures.blobs(document)]
