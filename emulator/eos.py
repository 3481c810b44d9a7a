"""What EOS answers to show commands in JSON, out of the state of the fabric.

Written from the fields of each show command.
"""

from collections.abc import Callable
from typing import Any

from emulator.ethernet import FRAME_BYTES, LOSSLESS, PRIORITIES, EthernetState
from emulator.fabric import Fabric
from emulator.module_kinds import ModuleKind
from emulator.port import PortState

LANES = 4
LIMITED = {
    "temperature": "temperature",
    "voltage": "supply_voltage",
    "rxPower": "rx_power",
    "txPower": "tx_power",
    "txBias": "tx_bias",
}
"""Quantities by the names that EOS has for them."""

Row = tuple[str, PortState, EthernetState]


def _interfaces(fabric: Fabric, rows: list[Row]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, port, state in rows:
        received, sent = int(port.rx_octets), int(port.tx_octets)
        found[name] = {
            "name": name,
            "hardware": "ethernet",
            "lineProtocolStatus": "up" if port.up else "down",
            "interfaceStatus": "connected" if port.up else "notconnect",
            "bandwidth": int(port.gbps * 1e9),
            "lanes": port.lanes,
            "mtu": 9214,
            "interfaceCounters": {
                "inOctets": received,
                "outOctets": sent,
                "inTotalPkts": received // FRAME_BYTES,
                "outTotalPkts": sent // FRAME_BYTES,
                "inDiscards": int(state.rx_discards),
                "outDiscards": int(state.tx_discards),
                "totalInErrors": int(state.rx_errors),
                "linkStatusChanges": 1 + 2 * int(port.link_downs) - (not port.up),
                "inputErrorsDetail": {"fcsErrors": int(port.crc_errors), "symbolErrors": 0,
                                      "rxPause": 0},
                "outputErrorsDetail": {"txPause": 0},
                "counterRefreshTime": fabric.now,
            },
        }  # fmt: skip
        for lane in range(2, LANES + 1):  # the cage's other interfaces, which have no lanes now
            found[f"{name.rpartition('/')[0]}/{lane}"] = {
                "lineProtocolStatus": "notPresent", "interfaceStatus": "inactive",
                "bandwidth": 0, "lanes": 0,
            }  # fmt: skip
    found["Management1"] = {"lineProtocolStatus": "up", "interfaceStatus": "connected"}
    return {"interfaces": found}


def _errors(fabric: Fabric, rows: list[Row]) -> dict[str, Any]:
    return {
        "interfaceErrorCounters": {
            name: {"inErrors": int(state.rx_errors), "fcsErrors": int(port.crc_errors),
                   "symbolErrors": 0, "outErrors": 0}
            for name, port, state in rows
        }
    }  # fmt: skip


def _status(fabric: Fabric, rows: list[Row]) -> dict[str, Any]:
    return {
        "interfaceStatuses": {
            name: {"linkStatus": "connected" if port.up else "notconnect",
                   "lineProtocolStatus": "up" if port.up else "down",
                   "bandwidth": int(port.gbps * 1e9) if port.up else 0}
            for name, port, _ in rows
        }
    }  # fmt: skip


def _pauses(fabric: Fabric, rows: list[Row]) -> dict[str, Any]:
    return {
        "interfaceCounters": {
            name: {
                "rxFrames": int(sum(state.rx_pause_frames)),
                "txFrames": int(sum(state.tx_pause_frames)),
                "priorities": {
                    str(n): {"rxFrames": int(state.rx_pause_frames[n]),
                             "txFrames": int(state.tx_pause_frames[n])}
                    for n in range(PRIORITIES)
                },
            }
            for name, _, state in rows
        }
    }  # fmt: skip


def _queues(fabric: Fabric, rows: list[Row]) -> dict[str, Any]:
    def queue(number: int, port: PortState, state: EthernetState) -> dict[str, Any]:
        sent = int(port.tx_octets) if number == LOSSLESS else 0
        dropped = int(state.tx_discards) if number == LOSSLESS else 0
        egress = {"enqueuedPackets": sent // FRAME_BYTES, "enqueuedBytes": sent,
                  "droppedPackets": dropped}  # fmt: skip
        return {
            "egressQueueCounters": {"countersSum": egress},
            "ingressVoqCounters": {"countersSum": {**egress, "droppedPackets": 0}},
        }

    return {
        "interfaces": {
            name: {"trafficClasses": {f"TC{n}": queue(n, port, state) for n in range(PRIORITIES)}}
            for name, port, state in rows
        }
    }


def _marks(fabric: Fabric, rows: list[Row]) -> dict[str, Any]:
    return {
        "intfQueueCounters": {
            name: {
                "queueCounters": {
                    str(n): str(int(state.ecn_marked)) if n == LOSSLESS else "-"
                    for n in range(PRIORITIES)
                }
            }
            for name, _, state in rows
        }
    }


def _limits(kind: ModuleKind, quantity: str) -> dict[str, Any]:
    limits = kind.limits[LIMITED[quantity]]
    told: dict[str, Any] = {
        "highAlarm": limits.high_alarm,
        "lowAlarm": limits.low_alarm,
        "highWarn": limits.high_warning,
        "lowWarn": limits.low_warning,
    }
    return told | {f"{name}Overridden": False for name in tuple(told)}


def _light(fabric: Fabric, rows: list[Row]) -> dict[str, Any]:
    found = {}
    for name, _, state in rows:
        module = state.module
        lanes = range(module.lanes)
        told = {
            "temperature": ("C", {"-": module.temperature}),
            "voltage": ("Volts", {"-": module.voltage}),
            "rxPower": ("dBm", {str(lane + 1): module.rx_dbm[lane] for lane in lanes}),
            "txPower": ("dBm", {str(lane + 1): module.tx_dbm[lane] for lane in lanes}),
            "txBias": ("mA", {str(lane + 1): module.bias_ma[lane] for lane in lanes}),
        }
        found[name] = {
            "displayName": name,
            "mediaType": "400GBASE-DR4",
            "vendorSn": module.serial,
            "parameters": {
                quantity: {
                    "unit": unit,
                    "channels": channels,
                    "threshold": _limits(module.built, quantity),
                }
                for quantity, (unit, channels) in told.items()
            },
        }
    return {"interfaces": found}


def _lanes(fabric: Fabric, rows: list[Row]) -> dict[str, Any]:
    found = {}
    for name, _, state in rows:
        module = state.module
        cage = name.rpartition("/")[0]
        for lane in range(module.lanes):
            found[f"{cage}/{lane + 1}"] = {
                "vendorSn": module.serial.ljust(16),
                "mediaType": "400GBASE-DR4",
                "channel": str(lane + 1),
                "slot": cage.removeprefix("Ethernet"),
                "temperature": module.temperature,
                "voltage": module.voltage,
                "txBias": module.bias_ma[lane],
                "txPower": module.tx_dbm[lane],
                "rxPower": module.rx_dbm[lane],
                "updateTime": fabric.now,
                "details": {one: _limits(module.built, one) for one in LIMITED},
            }
    return {"interfaces": found}


def _phys(fabric: Fabric, rows: list[Row]) -> dict[str, Any]:
    def counter(value: float) -> dict[str, Any]:
        return {"value": int(value), "changes": int(value > 0), "lastChange": fabric.now}

    def phy(port: PortState, state: EthernetState) -> dict[str, Any]:
        told: dict[str, Any] = {
            "description": {"phyChipName": "emulated", "location": "line"},
            "phyState": {"value": "linkUp" if port.up else "linkDown"},
            "fec": {
                "encoding": "reedSolomon544",
                "correctedCodewords": counter(state.corrected_codewords),
                "uncorrectedCodewords": counter(state.uncorrectable),
                "correctedSymbols": {
                    str(lane): counter(state.corrected_symbols / LANES) for lane in range(LANES)
                },
            },
            "preFecBer": {"value": state.pre_fec_ber},
        }
        return told

    quiet = {
        "description": {"phyChipName": "emulated", "location": "system"},
        "fec": {"correctedCodewords": counter(7), "uncorrectedCodewords": counter(0)},
        "preFecBer": {"value": 1e-9},
    }
    return {
        "interfacePhyStatuses": {
            name: {"phyStatuses": [quiet, phy(port, state)], "interfaceState": {}}
            for name, port, state in rows
        }
    }


def _neighbors(fabric: Fabric, rows: list[Row]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, port, _ in rows:
        device, far = fabric.facing(port)
        info = {
            "systemName": device,
            "chassisId": fabric.plan.mac(device),
            "chassisIdType": "macAddress",
            "neighborInterfaceInfo": {
                "interfaceIdType": "interfaceName",
                "interfaceId": f'"{far}"',
                "interfaceId_v2": far,
            },
        }
        found[name] = {"lldpNeighborInfo": [info] if port.up else []}
    return {"lldpNeighbors": found}


def _version(fabric: Fabric, rows: list[Row]) -> dict[str, Any]:
    return {
        "modelName": "DCS-7060X6-64PE",
        "version": "4.33.2F",
        "mfgName": "Arista",
        "bootupTimestamp": fabric.began - 86_400.0,
    }


SHOW: dict[str, Callable[[Fabric, list[Row]], dict[str, Any]]] = {
    "show interfaces": _interfaces,
    "show interfaces counters errors": _errors,
    "show interfaces status": _status,
    "show priority-flow-control counters detail": _pauses,
    "show interfaces counters queue detail": _queues,
    "show qos interfaces ecn counters queue": _marks,
    "show interfaces transceiver dom thresholds": _light,
    "show interfaces transceiver detail": _lanes,
    "show interfaces phy detail": _phys,
    "show lldp neighbors detail": _neighbors,
    "show version": _version,
}
"""What each command shows; the watchdog's counters are not on this platform."""
