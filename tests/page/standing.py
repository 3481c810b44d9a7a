"""A site that stands still: what a test wrote of topology, store and incidents, really served.

No collector runs and no clock moves, so that a picture of the page is the same each time.
"""

import asyncio
import gc
import threading
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from fabrichealth.catalogue.accelerators import UTILIZATION
from fabrichealth.catalogue.devices import DEVICE_UP
from fabrichealth.catalogue.optics import RX_POWER
from fabrichealth.catalogue.ports import RX_BYTES, SYMBOL_ERRORS, UP
from fabrichealth.catalogue.verdicts import LINK_HEALTH, LINK_STATE
from fabrichealth.cli._api import Api
from fabrichealth.cli._collecting import Collecting
from fabrichealth.cli._page_api import PageApi
from fabrichealth.kinds import Cause, IncidentKind, Severity
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Evidence, Incident, Place
from fabrichealth.model.incident import Change
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Device, Domain, Link, Rack, Topology
from fabrichealth.web.page import Page
from fabrichealth.web.server import Server, application, serve

NOW = 1_790_000_000.0
EVERY = 60.0
POLLS = 120

Reading = tuple[Metric, tuple[str, ...], float]


def plan(racks: int = 2, hosts: int = 2, accelerators: int = 4, planes: int = 2) -> Topology:
    """Return domain pod-a: each accelerator has a link to a switch of each plane."""
    rows = [Rack(name=f"r{n:03d}", domain="pod-a", loop=f"cdu-{n}") for n in range(racks)]
    devices = [Device(name=f"sw-{n}", role="switch", domain="pod-a", rack="r000")
               for n in range(planes)]  # fmt: skip
    links: list[Link] = []
    for rack in range(racks):
        for host in range(hosts):
            name = f"h{rack:03d}-{host}"
            devices.append(Device(name=name, role="host", domain="pod-a", rack=f"r{rack:03d}"))
            for number in range(accelerators):
                card = f"{name}-a{number}"
                devices.append(Device(name=card, role="accelerator", domain="pod-a", host=name,
                                      rack=f"r{rack:03d}"))  # fmt: skip
                links += [
                    Link(a=f"{card}/nvlink/{plane}", b=f"sw-{plane}/{card}", technology="nvlink")
                    for plane in range(planes)
                ]
    domain = Domain(name="pod-a", accelerators=racks * hosts * accelerators)
    return Topology(devices, links, [domain], rows)


class Standing:
    """Serves one moment; `tell` sends an incident to every page that is open."""

    def __init__(self, folder: Path, topology: Topology) -> None:
        self.topology = topology
        self.store = EmbeddedStore.open(folder / "series")
        self.incidents: dict[str, dict[str, Any]] = {}
        self.now = NOW
        self._inventory = SimpleNamespace(topology=topology)
        collecting = SimpleNamespace(
            poller=SimpleNamespace(inventory=self._inventory),
            store=self.store,
            clock=SimpleNamespace(now=lambda: self.now),
            incidents=self.incidents,
            journal=None,
            setup=SimpleNamespace(store=SimpleNamespace(shared=False)),
        )
        self.api = Api(cast("Collecting", collecting))
        self.page = PageApi(cast("Collecting", collecting))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: Server | None = None

    def lay_out(self, topology: Topology) -> None:
        """Have another topology from now on, as when links or devices are discovered."""
        self._inventory.topology = topology

    def serve(self, listen: str = "127.0.0.1:0") -> str:
        """Listen, on a free port unless one is given, and return the address."""
        if not self._thread.is_alive():
            self._thread.start()
        routes = [*self.api.routes(), *self.page.routes(), *Page().routes()]
        app = application(cast("Any", None), lambda: self.now, routes=routes)
        starting = asyncio.run_coroutine_threadsafe(serve(app, listen), self._loop)
        self._server = starting.result(10)
        return self._server.address

    def hang_up(self) -> None:
        """Stop listening, as a daemon does that is started again."""
        if self._server is not None:
            asyncio.run_coroutine_threadsafe(self._server.close(), self._loop).result(10)
            # connections that were ended are let go of a little later
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0.05), self._loop).result(10)
            self._server = None
            with warnings.catch_warnings():
                # asyncio leaves one half made that comes while a server closes (`Server._attach`)
                warnings.simplefilter("ignore", ResourceWarning)
                gc.collect()

    def close(self) -> None:
        """Stop listening and let go of the store."""
        self.hang_up()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        self.store.close()

    def tell(self, incident: Incident) -> None:
        """Take an incident and send it to whoever listens."""
        plain = incident.to_json()
        self.incidents[incident.incident] = plain
        self._loop.call_soon_threadsafe(self.api.tell, plain)

    def write(self, at: float, readings: Iterable[Reading]) -> None:
        """Store readings of one moment."""
        every = list(readings)
        table = self.store.table
        series = table.intern_all([(metric, labels) for metric, labels, _ in every])
        values = np.array([value for _, _, value in every])
        self.store.append([Batch(table.clock("test", "all"), at, series, values)])

    def lived(self, ill: str, since: float) -> None:
        """Write two hours in which one link falls ill and everything else is well."""
        for at in np.arange(NOW - POLLS * EVERY + EVERY, NOW + 1, EVERY).tolist():
            self.write(at, self._moment(at, ill, since))

    def _moment(self, at: float, ill: str, since: float) -> Iterable[Reading]:
        for name, device in self.topology.devices.items():
            yield DEVICE_UP, (name,), 1.0
            if device.role == "accelerator":
                yield UTILIZATION, (name,), 0.9
        for link in self.topology.links.values():
            bad = link.id == ill and at >= since
            for state in ("healthy", "subhealthy"):
                yield LINK_STATE, (link.id, "", state), float(bad == (state == "subhealthy"))
            yield LINK_HEALTH, (link.id, ""), 0.3 if bad else 1.0
            for end in link.ends:
                yield UP, tuple(end), 1.0
                yield RX_BYTES, tuple(end), (at - NOW + 1e6) * 1e9
                yield SYMBOL_ERRORS, tuple(end), max(0.0, at - since) * 3 if bad else 0.0
                if link.id == ill:
                    yield RX_POWER, (*end, "1"), -9.0 if bad else -2.0


def incident(
    name: str,
    kind: IncidentKind,
    culprit: Place,
    severity: Severity = Severity.PAGE,
    opened: float = NOW - 1800,
    closed: float | None = None,
    evidence: Iterable[Evidence] = (),
) -> Incident:
    """Return an incident with cause, action and a step of history."""
    return Incident(
        incident=name,
        kind=kind,
        severity=severity,
        culprit=culprit,
        because="three times the symbol errors that its technology allows",
        action="Clean the connector, then swap the cable.",
        opened_at=opened,
        confirmed_at=opened + 60,
        closed_at=closed,
        domain="pod-a",
        history=[Change(opened, kind.name, severity)],
        victims=[Place("device", "h000-0")],
        cause=Cause.DAMAGED_FIBER,
        causes={Cause.DAMAGED_FIBER: 0.8, Cause.CONTAMINATED_CONNECTOR: 0.2},
        evidence=list(evidence),
        safe_to_drain=True,
    )
