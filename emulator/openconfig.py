"""A switch as OpenConfig's models tell it: values by path, from the state of the fabric.

Written from openconfig-interfaces, -if-ethernet, -platform, -platform-transceiver, -qos and -lldp:
64-bit numbers and decimals are texts (RFC 7951), power is in dBm and bias in mA.
"""

from collections.abc import Iterator
from typing import Any

from emulator.ethernet import FRAME_BYTES, LOSSLESS, EthernetState
from emulator.fabric import Fabric
from emulator.port import PortState

LIMITED = {
    "temperature": "module-temperature",
    "supply_voltage": "supply-voltage",
    "rx_power": "input-power",
    "tx_power": "output-power",
    "tx_bias": "laser-bias-current",
}
"""Quantities as the leaves of a threshold call them."""


def values(fabric: Fabric, switch: str) -> dict[str, Any]:
    """Return what a switch has under every path now."""
    found: dict[str, Any] = {}
    for port in fabric.ports_of(switch):
        if port.ethernet is not None:
            name = port.name.partition("/")[2]
            found |= _interface(name, port, port.ethernet)
            found |= dict(_module(name, port, port.ethernet))
            if port.up:
                found |= _neighbor(fabric, name, port)
    return found


def _interface(name: str, port: PortState, state: EthernetState) -> dict[str, Any]:
    place = f"/interfaces/interface[name={name}]"
    queue = f"/qos/interfaces/interface[interface-id={name}]/output/queues/queue[name=UC{LOSSLESS}]"
    received, sent = port.rx_octets, port.tx_octets
    return {
        f"{place}/state": {
            "type": "iana-if-type:ethernetCsmacd",
            "oper-status": "UP" if port.up else "DOWN",
            "admin-status": "UP",
            "transceiver": f"{name} transceiver",
            "counters": {
                "in-octets": f"{received:.0f}",
                "out-octets": f"{sent:.0f}",
                "in-pkts": f"{received / FRAME_BYTES:.0f}",
                "out-pkts": f"{sent / FRAME_BYTES:.0f}",
                "in-errors": f"{state.rx_errors:.0f}",
                "in-fcs-errors": "0",
                "in-discards": f"{state.rx_discards:.0f}",
                "out-discards": f"{state.tx_discards:.0f}",
            },
        },
        f"{place}/ethernet/state": {
            "port-speed": f"openconfig-if-ethernet:SPEED_{port.gbps:.0f}GB",
            "counters": {
                "in-mac-pause-frames": f"{sum(state.rx_pause_frames):.0f}",
                "out-mac-pause-frames": f"{sum(state.tx_pause_frames):.0f}",
            },
        },
        f"{queue}/state": {
            "transmit-octets": f"{sent:.0f}",
            "transmit-pkts": f"{sent / FRAME_BYTES:.0f}",
            "dropped-pkts": "0",
            "ecn-marked-pkts": f"{state.ecn_marked:.0f}",
        },
    }


def _module(name: str, port: PortState, state: EthernetState) -> Iterator[tuple[str, Any]]:
    module = state.module
    component = f"/components/component[name={name} transceiver]"
    yield f"{component}/state", {"temperature": {"instant": f"{module.temperature:.1f}"}}
    told: dict[str, Any] = {
        "present": "PRESENT",
        "vendor": module.vendor,
        "vendor-part": module.part,
        "serial-no": module.serial,
        "supply-voltage": {"instant": f"{module.voltage:.2f}"},
        "fec-corrected-bits": f"{state.corrected_bits:.0f}",
        "fec-corrected-blocks": f"{state.corrected_codewords:.0f}",
        "fec-uncorrectable-blocks": f"{state.uncorrectable:.0f}",
    }
    if port.up:
        told["pre-fec-ber"] = {"instant": f"{state.pre_fec_ber:.18f}"}
    yield f"{component}/transceiver/state", told
    channels = [
        {
            "index": lane,
            "state": {
                "input-power": {"instant": f"{module.rx_dbm[lane]:.2f}"},
                "output-power": {"instant": f"{module.tx_dbm[lane]:.2f}"},
                "laser-bias-current": {"instant": f"{module.bias_ma[lane]:.2f}"},
                "rx-los": not port.up,
            },
        }
        for lane in range(module.lanes)
    ]
    yield f"{component}/transceiver/physical-channels", {"channel": channels}
    critical = {
        f"{LIMITED[quantity]}-{end}": f"{value:.2f}"
        for quantity, limits in module.built.limits.items()
        for end, value in (("upper", limits.high_alarm), ("lower", limits.low_alarm))
    }
    threshold = {"severity": "openconfig-alarm-types:CRITICAL", "state": critical}
    yield f"{component}/transceiver/thresholds", {"threshold": [threshold]}


def _neighbor(fabric: Fabric, name: str, port: PortState) -> dict[str, Any]:
    device, far = fabric.facing(port)
    return {
        f"/lldp/interfaces/interface[name={name}]/neighbors/neighbor[id=1]/state": {
            "system-name": device,
            "chassis-id": fabric.plan.mac(device),
            "chassis-id-type": "MAC_ADDRESS",
            "port-id": far,
            "port-id-type": "INTERFACE_NAME",
        }
    }
