"""A switch with NVUE on loopback: its REST API, the state out of the fabric.

Written from NVUE's object model. Releases keep the same things in other places: `CUMULUS` has
counters, PHYs and modules below each interface, `OLDER` has counters in the list of interfaces and
modules in a flat form, `NVOS` is an NVLink switch with all counters in one view.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from emulator import cumulus
from emulator.fabric import Fabric
from emulator.loopback import Loopback, basic
from emulator.port import PortState

CUMULUS, OLDER, NVOS = "cumulus", "older", "nvos"
Json = dict[str, Any]


OF_ALL: dict[str, Json] = {
    "system": {"build": "Cumulus Linux 5.13.0"},
    "platform/environment/temperature": {
        "ASIC": {"state": "ok", "current": "51.00", "max": "105.00"},
    },
    "platform/environment/fan": {
        "FAN1/1": {"state": "ok", "current-speed": "14200", "max-speed": "29000"},
    },
}
"""Resources that every switch has."""


class Nothing(Exception):
    """A resource that this release does not have."""


@dataclass
class NvueSwitch:
    """One switch; what is in these fields may change while it serves."""

    fabric: Fabric
    name: str
    release: str = CUMULUS
    password: tuple[str, str] | None = None
    lacking: set[str] = field(default_factory=set)
    """Last words of resources that this switch does not have."""
    slow: dict[str, float] = field(default_factory=dict)
    """Seconds that some resources take, by a part of their path."""
    page: str = ""
    """What is answered instead, whatever is asked."""
    asked: list[str] = field(default_factory=list)
    """The resources that were read, with their queries."""
    open: int = 0
    most_open: int = 0
    """How many requests were open at once, at most."""
    now: Callable[[], float] | None = None
    """Gives unix seconds, if flows are to be counted up to the moment of asking."""
    _server: Loopback = field(init=False)

    def __post_init__(self) -> None:
        self._server = Loopback("GET", "/nvue_v1/{resource:.*}", self.answer)

    @property
    def address(self) -> str:
        """Where it answers, once started."""
        return self._server.address

    async def start(self) -> None:
        """Answer from now on, on loopback."""
        await self._server.start()

    async def stop(self) -> None:
        """Answer nobody any more."""
        await self._server.stop()

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one request."""
        if self.password and request.headers.get("Authorization") != basic(*self.password):
            raise web.HTTPUnauthorized
        if self.page:
            return web.Response(text=self.page, content_type="text/html")
        resource = request.match_info["resource"]
        self.asked.append(request.rel_url.path_qs.removeprefix("/nvue_v1/"))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(
                max((s for key, s in self.slow.items() if key in resource), default=0)
            )
            body = self.body(resource, request.query.get("include", ""))
        except Nothing:
            title = {"title": "Not Found", "status": 404, "detail": "the item does not exist"}
            return web.json_response(title, status=404)
        finally:
            self.open -= 1
        return web.json_response(body)

    def body(self, resource: str, include: str = "") -> Any:
        """Return what is below a resource now.

        Raises:
            Nothing: this release has no such resource.
        """
        if resource.rpartition("/")[2] in self.lacking:
            raise Nothing
        if self.now is not None:
            self.fabric.carry(self.now())
        first, *rest = resource.split("/")
        ports = dict(self._ports())
        if first == "interface":
            if not rest:
                return self._interfaces(ports, include)
            if rest[0] in ports:
                return self._interface(ports[rest[0]], "/".join(rest[1:]))
        if self.release == CUMULUS and resource.startswith("platform/transceiver"):
            return self._modules(ports, rest[1:])
        if resource in OF_ALL:
            return OF_ALL[resource] | ({"hostname": self.name} if resource == "system" else {})
        raise Nothing

    def _modules(self, ports: dict[str, PortState], below: list[str]) -> Json:
        modules = {name: cumulus.module(port) for name, port in ports.items() if port.ethernet}
        if below:
            return modules.get(below[0], {})
        wanted = ("identifier", "vendor-name", "vendor-pn", "vendor-sn")
        return {name: {key: one[key] for key in wanted} for name, one in modules.items()}

    def _ports(self) -> Iterator[tuple[str, PortState]]:
        for port in self.fabric.ports_of(self.name):
            name = port.name.partition("/")[2]
            if self.release == NVOS:
                name = f"acp{int(name.rpartition('/')[2]) + 1}"
            yield name, port

    def _interfaces(self, ports: dict[str, PortState], include: str) -> Json:
        if include == "/*/counters" and self.release == NVOS:
            return {name: {"counters": cumulus.nvlink(port)} for name, port in ports.items()}
        found: Json = {"eth0": {"type": "eth", "link": {"state": {"up": {}}, "speed": "1G"}},
                       "lo": {"type": "loopback", "link": {"state": {"up": {}}}}}  # fmt: skip
        for name, port in ports.items():
            found[name] = {"type": "nvl" if self.release == NVOS else "swp",
                           "link": cumulus.link(port), "ifindex": len(found) + 1}  # fmt: skip
            if self.release == OLDER:
                found[name]["link"]["stats"] = cumulus.counters(port)
            elif port.ethernet and port.up:
                found[name]["lldp"] = self._lldp(port)
        return found

    def _interface(self, port: PortState, below: str) -> Any:
        state = port.ethernet
        told = {
            CUMULUS: {
                "counters": lambda: cumulus.counters(port) | {"qos": cumulus.qos(port, state)},
                "counters/qos": lambda: cumulus.qos(port, state),
                "link/phy-detail": lambda: cumulus.phy(port, state),
                "lldp": lambda: self._lldp(port) if port.up else {},
            },
            OLDER: {
                "qos/counters": lambda: cumulus.qos(port, state),
                "transceiver": lambda: cumulus.flat(port),
                "lldp": lambda: self._lldp(port) if port.up else {},
            },
            NVOS: {
                "link/phy/health": lambda: cumulus.health(port),
                "counters": lambda: cumulus.nvlink(port),
            },
        }[self.release]
        if below not in told:
            raise Nothing
        return told[below]()

    def _lldp(self, port: PortState) -> Json:
        device, _, far = self.fabric.peer(port).name.partition("/")
        return {
            "neighbor": {
                device: {
                    "chassis": {"chassis-id": self.fabric.plan.mac(device), "system-name": device},
                    "port": {"name": far, "type": "ifname", "ttl": 120},
                }
            }
        }
