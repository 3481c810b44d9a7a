"""What NVUE tells of one port, out of its state: link, counters, PHY, queues, module.

Written from NVUE's object model; `flat` is a module as older releases show it.
"""

from typing import Any

from emulator.ethernet import FRAME_BYTES, LOSSLESS, PRIORITIES, EthernetState
from emulator.module_kinds import Limits
from emulator.port import PortState

Json = dict[str, Any]


def link(port: PortState) -> Json:
    """Return state, speed and FEC of a port."""
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


def counters(port: PortState) -> Json:
    """Return its packet counters."""
    received, sent = int(port.rx_octets), int(port.tx_octets)
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


def nvlink(port: PortState) -> Json:
    """Return all counters of a port of an NVLink switch."""
    return {
        "in-bytes": int(port.rx_octets),
        "out-bytes": int(port.tx_octets),
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


def health(port: PortState) -> Json:
    """Return bit-error ratios as an NVLink switch shows them."""
    return {
        "raw-ber": "2E-9",
        "effective-ber": "15E-255",
        "symbol-ber": "15E-255",
        "lane": {str(lane): {"raw-ber": "2E-9", "phy-raw-errors": 17}
                 for lane in range(port.lanes)},
    }  # fmt: skip


def phy(port: PortState, state: EthernetState | None) -> Json:
    """Return what its PHY counts."""
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


def qos(port: PortState, state: EthernetState | None) -> Json:
    """Return its queues, pauses and marks."""
    if state is None:
        return {}
    sent = int(port.tx_octets) // FRAME_BYTES
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


def _bounded(name: str, value: str, unit: str, limits: Limits) -> Json:
    bounds = {
        "high-alarm-threshold": limits.high_alarm,
        "low-alarm-threshold": limits.low_alarm,
        "high-warning-threshold": limits.high_warning,
        "low-warning-threshold": limits.low_warning,
    }
    told = {key: f"{one:.2f} {unit}" for key, one in bounds.items()}
    return {name: value, "alarm": "Off", **told}


def _power(dbm: float) -> str:
    return f"{10 ** (dbm / 10):.4f} mW / {dbm:.2f} dBm"


def module(port: PortState) -> Json:
    """Return its module."""
    state = port.ethernet
    if state is None:
        return {}
    module = state.module
    limits = module.built.limits
    channels = {}
    for lane in range(module.lanes):
        received, sent = _power(module.rx_dbm[lane]), _power(module.tx_dbm[lane])
        bias = f"{module.bias_ma[lane]:.3f} mA"
        channels[f"channel-{lane + 1}"] = {
            "rx-power": _bounded("power", received, "dBm", limits["rx_power"]),
            "tx-power": _bounded("power", sent, "dBm", limits["tx_power"]),
            "tx-bias-current": _bounded("current", bias, "mA", limits["tx_bias"]),
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
        "temperature": _bounded("temperature", warm, "C", limits["temperature"]),
        "voltage": _bounded("voltage", f"{module.voltage:.4f} V", "V", limits["supply_voltage"]),
        "channel": channels,
    }


def flat(port: PortState) -> Json:
    """Return its module as older releases show it."""
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
