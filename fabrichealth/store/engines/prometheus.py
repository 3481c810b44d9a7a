"""Any engine that Prometheus' APIs are spoken to: VictoriaMetrics, Prometheus, Mimir, Thanos.

Written by remote write, to VictoriaMetrics by line protocol if that is wanted; read by the query
API, and by VictoriaMetrics' export where it is there.
"""

from typing import Literal

from pydantic import field_validator, model_validator

from fabrichealth.model import SeriesTable
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.engine import Wanted, everything
from fabrichealth.store.remote import line_protocol, remote_write
from fabrichealth.store.remote.delivery import Delivery
from fabrichealth.store.remote.engine import RemoteEngine
from fabrichealth.store.remote.http import Http
from fabrichealth.store.remote.identity import Identities
from fabrichealth.store.remote.line_protocol import LineProtocol, victoria_tag
from fabrichealth.store.remote.promql import PromqlReads
from fabrichealth.store.remote.remote_write import RemoteWrite
from fabrichealth.store.remote.settings import RemoteSettings, http_address, needed
from fabrichealth.store.remote.shared import Encodes, SharedStore
from fabrichealth.store.remote.spool import Spool
from fabrichealth.target_rows import Address, Text


class PrometheusSettings(RemoteSettings):
    """Store section of the site file, for an engine with Prometheus' APIs."""

    kind: Literal["prometheus"] = "prometheus"

    read: Address = ""
    """Address before `/api/v1`, such as `http://127.0.0.1:8428`; needed by whoever judges."""
    write: Address = ""
    """Whole address of remote write, such as `http://127.0.0.1:8428/api/v1/write`; needed by
    whoever collects."""
    protocol: Literal["remote_write", "line_protocol"] = "remote_write"
    """What `write` takes; line protocol only VictoriaMetrics, at `http://127.0.0.1:8428/write`."""
    tenant: Text = ""
    """Sent as `X-Scope-OrgID`, which Mimir and others of its family want."""

    @field_validator("read", "write")
    @classmethod
    def _http(cls, url: str) -> str:
        return http_address(url)

    @model_validator(mode="after")
    def _somewhere(self) -> "PrometheusSettings":
        if not self.read and not self.write:
            raise ValueError("give read, write or both")
        return self


class Prometheus(RemoteEngine[PrometheusSettings]):
    """Opens stores on a Prometheus-compatible engine."""

    settings_type = PrometheusSettings

    def store(
        self, wanted: Wanted = everything, *, read: bool = False, write: bool = False
    ) -> SharedStore:
        """Open as asked; see `RemoteEngine.store`."""
        settings, table = self.settings, SeriesTable()
        access = settings.access(tenant=settings.tenant)
        reads = delivery = None
        encodes: Encodes | None = None
        if read:
            http = Http(needed(settings.read, "read"), access, settings.timeout)
            known = Identities(http.shown, table, settings.labels, wanted)
            reads = PromqlReads(http, known, settings.labels)
        if write:
            out = Http(needed(settings.write, "write"), access, settings.timeout)
            headers, halves = remote_write.HEADERS, RemoteWrite.halves
            encodes = RemoteWrite(table, settings.labels)
            if settings.protocol == "line_protocol":
                headers, halves = line_protocol.HEADERS, LineProtocol.halves
                encodes = LineProtocol(table, settings.labels, victoria_tag)
            spool = Spool(StatePaths(self.state).spool, settings.spool)
            delivery = Delivery(spool, lambda body: out.post("", body, headers), halves)
        return SharedStore(table, settings, reads, encodes, delivery)
