"""A switch with NVUE on loopback: its REST API, the state out of the fabric.

Written from NVUE's object model. Releases keep the same things in other places: `CUMULUS` has
counters, PHYs and modules below each interface, `OLDER` has counters in the list of interfaces and
modules in a flat form, `NVOS` is an NVLink switch with all counters in one view.
"""

import asyncio
import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from emulator.ethernet import LOSSLESS, PRIORITIES, EthernetState
from emulator.fabric import Fabric, PortState
from emulator.loopback import Loopback

CUMULUS, OLDER, NVOS = "cumulus", "older", "nvos"
FRAME_BYTES = 4096
LIMITS = ("high-alarm-threshold", "low-alarm-threshold", "high-warning-threshold",
          "low-warning-threshold")  # fmt: skip
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
        if self.password and request.headers.get("Authorization") != _basic(*self.password):
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
        modules = {name: _module(port) for name, port in ports.items() if port.ethernet}
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
            return {name: {"counters": _nvlink(port)} for name, port in ports.items()}
        found: Json = {"eth0": {"type": "eth", "link": {"state": {"up": {}}, "speed": "1G"}},
                       "lo": {"type": "loopback", "link": {"state": {"up": {}}}}}  # fmt: skip
        for name, port in ports.items():
            found[name] = {"type": "nvl" if self.release == NVOS else "swp",
                           "link": _link(port), "ifindex": len(found) + 1}  # fmt: skip
            if self.release == OLDER:
                found[name]["link"]["stats"] = _counters(port)
            elif port.ethernet and port.up:
                found[name]["lldp"] = self._lldp(port)
        return found

    def _interface(self, port: PortState, below: str) -> Any:
        state = port.ethernet
        told = {
            CUMULUS: {
                "counters": lambda: _counters(port) | {"qos": _qos(port, state)},
                "counters/qos": lambda: _qos(port, state),
                "link/phy-detail": lambda: _phy(port, state),
                "lldp": lambda: self._lldp(port) if port.up else {},
            },
            OLDER: {
                "qos/counters": lambda: _qos(port, state),
                "transceiver": lambda: _flat(port),
                "lldp": lambda: self._lldp(port) if port.up else {},
            },
            NVOS: {"link/phy/health": lambda: _health(port), "counters": lambda: _nvlink(port)},
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


def _link(port: PortState) -> Json:
    told: Json = {
        "admin-status": "up",
        "oper-status": "up" if port.up else "down",
        "state": {"up" if port.up else "down": {}},
        "auto-negotiate": "off",
        "mtu": 9216,
        "fec": "rs",
    }
    if port.up:
        told |= {"speed": f"{port.gbps:g}G", "lanes": f"{port.lanes}X"}
    return told


def _counters(port: PortState) -> Json:
    received, sent = int(port.rx_words) * 4, int(port.tx_words) * 4
    state = port.ethernet
    return {
        "carrier-down-count": int(port.link_downs),
        "carrier-transitions": 1 + 2 * int(port.link_downs) - (not port.up),
        "in-bytes": received,
        "out-bytes": sent,
        "in-pkts": received // FRAME_BYTES,
        "out-pkts": sent // FRAME_BYTES,
        "in-drops": int(state.rx_discards) if state else 0,
        "out-drops": int(state.tx_discards) if state else 0,
        "in-errors": int(state.rx_errors) if state else 0,
        "out-errors": 0,
    }


def _nvlink(port: PortState) -> Json:
    return {
        "in-bytes": int(port.rx_words) * 4,
        "out-bytes": int(port.tx_words) * 4,
        "out-wait": 1000,
        "buffer-overrun-errors": 0,
        "link": {
            "carrier-down-count": int(port.link_downs),
            "error-recovery": int(port.recoveries),
            "local-integrity-errors": 0,
            "port-rcv-remote-physical-errors": 0,
        },
        "nvl": {"errors": {"symbol-errors": {"receive": int(port.symbol_errors),
                                             "transmit": "n/a"},
                           "icrc-errors": {"receive": int(port.crc_errors),
                                           "transmit": "n/a"}}},
    }  # fmt: skip


def _health(port: PortState) -> Json:
    return {
        "raw-ber": "2E-9",
        "effective-ber": "15E-255",
        "symbol-ber": "15E-255",
        "lane": {str(lane): {"raw-ber": "2E-9", "phy-raw-errors": 17}
                 for lane in range(port.lanes)},
    }  # fmt: skip


def _phy(port: PortState, state: EthernetState | None) -> Json:
    if state is None:
        return {}
    module = state.module
    told: Json = {
        "time-since-last-clear-min": 5,
        "phy-received-bits": int(port.rx_words) * 32,
        "symbol-errors": 0,
        "effective-errors": int(state.uncorrectable),
        "raw-ber": f"{state.pre_fec_ber:.0E}" if port.up else "15E-255",
        "effective-ber": "15E-255",
        "symbol-ber": "15E-255",
    }
    for lane in range(8):  # the list is as long as the widest port's
        used = lane < module.lanes
        told[f"phy-raw-errors-lane{lane}"] = int(state.corrected_bits / module.lanes) if used else 0
        told[f"snr-media-lane{lane}"] = round(module.snr_db[lane], 2) if used else 0
    for errors, words in enumerate(state.codewords):
        told[f"rs-num-corr-err-bin{errors}"] = int(words)
    return told


def _qos(port: PortState, state: EthernetState | None) -> Json:
    if state is None:
        return {}
    sent = int(port.tx_words) * 4 // FRAME_BYTES
    return {
        "pfc-stats": {
            str(n): {
                "rx-pause-frames": int(state.rx_pause_frames[n]),
                "rx-pause-duration": int(state.rx_pause_seconds[n] * 1e6),
                "tx-pause-frames": int(state.tx_pause_frames[n]),
                "tx-pause-duration": int(state.tx_pause_seconds[n] * 1e6),
            }
            for n in range(PRIORITIES)
        },
        "egress-queue-stats": {
            str(n): {
                "tx-frames": sent if n == LOSSLESS else 0,
                "ecn-marked-frames": int(state.ecn_marked) if n == LOSSLESS else 0,
                "tx-uc-buffer-discards": "0 Bytes",
                "wred-discards": 0,
            }
            for n in range(PRIORITIES)
        },
    }


def _bounded(name: str, value: str, unit: str, limits: tuple[float, ...]) -> Json:
    bounds = {key: f"{one:.2f} {unit}" for key, one in zip(LIMITS, limits, strict=True)}
    return {name: value, "alarm": "Off", **bounds}


def _power(dbm: float) -> str:
    return f"{10 ** (dbm / 10):.4f} mW / {dbm:.2f} dBm"


def _module(port: PortState) -> Json:
    state = port.ethernet
    if state is None:
        return {}
    module = state.module
    channels = {}
    for lane in range(module.lanes):
        received, sent = _power(module.rx_dbm[lane]), _power(module.tx_dbm[lane])
        bias = f"{module.bias_ma[lane]:.3f} mA"
        channels[f"channel-{lane + 1}"] = {
            "rx-power": _bounded("power", received, "dBm", (5.5, -6.9, 4.0, -5.9)),
            "tx-power": _bounded("power", sent, "dBm", (5.5, -4.3, 4.0, -3.3)),
            "tx-bias-current": _bounded("current", bias, "mA", (100.0, 0.0, 95.0, 5.0)),
        }
    warm = f"{module.temperature:.2f} C"
    return {
        "identifier": "OSFP",
        "cable-type": "Optical module",
        "vendor-name": module.vendor,
        "vendor-pn": module.part,
        "vendor-sn": module.serial,
        "vendor-rev": "A1",
        "error-status": "N/A",
        "temperature": _bounded("temperature", warm, "C", (75.0, -5.0, 70.0, 0.0)),
        "voltage": _bounded("voltage", f"{module.voltage:.4f} V", "V", (3.63, 2.97, 3.46, 3.13)),
        "channel": channels,
    }


def _flat(port: PortState) -> Json:
    state = port.ethernet
    if state is None:
        return {}
    module = state.module
    fahrenheit = module.temperature * 1.8 + 32
    told: Json = {
        "identifier": "OSFP",
        "vendor-name": module.vendor,
        "vendor-sn": module.serial,
        "temperature": f"{module.temperature:.2f} degrees C / {fahrenheit:.2f} degrees F",
        "voltage": f"{module.voltage:.4f} V",
    }  # fmt: skip
    for lane in range(module.lanes):
        told[f"ch-{lane + 1}-rx-power"] = _power(module.rx_dbm[lane])
        told[f"ch-{lane + 1}-tx-power"] = _power(module.tx_dbm[lane])
        told[f"ch-{lane + 1}-tx-bias-current"] = f"{module.bias_ma[lane]:.3f} mA"
    return told


def _basic(user: str, word: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{word}'.encode()).decode()}"
