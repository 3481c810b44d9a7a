"""InfluxDB 1, 2 and 3: written by line protocol, read by InfluxQL, Flux or SQL."""

from typing import Literal
from urllib.parse import urlencode

from pydantic import Field, field_validator, model_validator

from fabrichealth.model import SeriesTable
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.engine import Wanted, everything
from fabrichealth.store.remote.delivery import Delivery, Sends
from fabrichealth.store.remote.engine import RemoteEngine
from fabrichealth.store.remote.flux import Flux
from fabrichealth.store.remote.http import Http
from fabrichealth.store.remote.identity import Identities
from fabrichealth.store.remote.influx import Dialect, InfluxReads
from fabrichealth.store.remote.influx_client import ClientWrites
from fabrichealth.store.remote.influxql import InfluxQL
from fabrichealth.store.remote.line_protocol import HEADERS, LineProtocol
from fabrichealth.store.remote.settings import Access, RemoteSettings, http_address
from fabrichealth.store.remote.shared import SharedStore
from fabrichealth.store.remote.spool import Spool
from fabrichealth.store.remote.sql import Sql
from fabrichealth.target_rows import Address, Text

SCHEMES = {1: "Bearer", 2: "Token", 3: "Bearer"}
"""How a token is given to each version."""


class InfluxSettings(RemoteSettings):
    """Store section of the site file, for an InfluxDB."""

    kind: Literal["influx"] = "influx"

    url: Address = Field(min_length=1)
    """Address of the server, such as `http://127.0.0.1:8086`."""
    version: Literal[1, 2, 3] = 2
    """Which InfluxDB it is: 1 is asked in InfluxQL, 2 in Flux, 3 in SQL."""
    org: Text = ""
    """Organisation, of version 2."""
    bucket: Text = ""
    """Bucket, of version 2."""
    db: Text = ""
    """Database, of versions 1 and 3; it must be there."""

    @field_validator("url")
    @classmethod
    def _http(cls, url: str) -> str:
        return http_address(url)

    @model_validator(mode="after")
    def _somewhere(self) -> "InfluxSettings":
        missing = [key for key in self._needed() if not getattr(self, key)]
        if missing:
            raise ValueError(f"InfluxDB {self.version} needs {' and '.join(missing)}")
        return self

    def _needed(self) -> tuple[str, ...]:
        return ("org", "bucket") if self.version == 2 else ("db",)


class Influx(RemoteEngine[InfluxSettings]):
    """Opens stores on an InfluxDB."""

    settings_type = InfluxSettings

    def store(
        self, wanted: Wanted = everything, *, read: bool = False, write: bool = False
    ) -> SharedStore:
        """Open as asked; see `RemoteEngine.store`."""
        settings, table = self.settings, SeriesTable()
        access = settings.access(SCHEMES[settings.version])
        http = Http(settings.url, access, settings.timeout)
        reads = encodes = delivery = None
        if read:
            known = Identities(http.shown, table, settings.labels, wanted)
            reads = InfluxReads(self._dialect(http), known, settings.labels)
        if write:
            encodes = LineProtocol(table, settings.labels)
            spool = Spool(StatePaths(self.state).spool, settings.spool)
            delivery = Delivery(spool, self._sends(http, access), LineProtocol.halves)
        return SharedStore(table, settings, reads, encodes, delivery)

    def _dialect(self, http: Http) -> Dialect:
        settings = self.settings
        if settings.version == 1:
            return InfluxQL(http, settings.db)
        if settings.version == 2:
            return Flux(http, settings.org, settings.bucket)
        return Sql(http, settings.db)

    def _sends(self, http: Http, access: Access) -> Sends:
        settings = self.settings
        if settings.version == 2:
            return ClientWrites(
                settings.url, access, settings.timeout, settings.org, settings.bucket
            ).send
        path = {
            1: f"/write?{urlencode({'db': settings.db, 'precision': 'ns'})}",
            3: f"/api/v3/write_lp?{urlencode({'db': settings.db, 'precision': 'nanosecond'})}",
        }[settings.version]
        return lambda body: http.post(path, body, HEADERS)
