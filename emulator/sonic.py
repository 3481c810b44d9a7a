"""The databases of a SONiC switch, told from the state of the fabric.

Written from the schemas of sonic-swss, sonic-platform-daemons and SAI: each database by its number,
key -> hash of text.
"""

from collections.abc import Iterator

from emulator.ethernet import FRAME_BYTES, PRIORITIES, EthernetState
from emulator.fabric import Fabric
from emulator.module_kinds import ModuleKind
from emulator.port import PortState
from emulator.resp import Hashes

APPL, COUNTERS, CONFIG, STATE = 0, 2, 4, 6
PORT, QUEUE, GROUP = 0x1_0000, 0x15_0000, 0x1A_0000
"""Kinds of objects in their identifiers, as SAI numbers them."""
LOSSLESS = (3, 4)
MICROSECONDS = 1e6
PROFILE = "pg_lossless_400000_40m_profile"
P, Q, G = "SAI_PORT_STAT_", "SAI_QUEUE_STAT_", "SAI_INGRESS_PRIORITY_GROUP_STAT_"
Row = dict[str, str]


class SonicSwitch:
    """A switch that runs SONiC; one telling of a database serves all that ask at one moment."""

    def __init__(self, fabric: Fabric, name: str) -> None:
        self._fabric = fabric
        self._name = name
        self._told: dict[int, Hashes] = {}
        self._when = fabric.now

    def database(self, number: int) -> Hashes:
        """Return the content of a database now: key -> hash."""
        if self._when != self._fabric.now:
            self._told, self._when = {}, self._fabric.now
        if number not in self._told:
            tell = TABLES.get(number)
            self._told[number] = dict(tell(self._fabric, self._name)) if tell else {}
        return self._told[number]


def _ports(fabric: Fabric, switch: str) -> Iterator[tuple[int, str, PortState, EthernetState]]:
    """Yield (index, name, state, Ethernet's state) of each port."""
    for index, port in enumerate(fabric.ports_of(switch)):
        if port.ethernet is not None:
            yield index, port.name.partition("/")[2], port, port.ethernet


def _appl(fabric: Fabric, switch: str) -> Iterator[tuple[str, Row]]:
    for index, name, port, _ in _ports(fabric, switch):
        first = 4 * index
        yield (
            f"PORT_TABLE:{name}",
            {
                "alias": f"etp{index + 1}",
                "lanes": ",".join(str(first + lane) for lane in range(port.lanes)),
                "speed": f"{port.gbps * 1000:.0f}",
                "fec": "rs",
                "oper_status": "up" if port.up else "down",
                "admin_status": "up",
                "mtu": "9100",
            },
        )
        if port.up:
            yield f"LLDP_ENTRY_TABLE:{name}", _neighbor(fabric, port)


def _neighbor(fabric: Fabric, port: PortState) -> Row:
    device, far = fabric.facing(port)
    return {
        "lldp_rem_sys_name": device,
        "lldp_rem_chassis_id_subtype": "4",
        "lldp_rem_chassis_id": fabric.plan.mac(device),
        "lldp_rem_port_id_subtype": "5",
        "lldp_rem_port_id": far,
        "lldp_rem_port_desc": port.name,
    }


def _counters(fabric: Fabric, switch: str) -> Iterator[tuple[str, Row]]:
    ports = list(_ports(fabric, switch))
    yield "COUNTERS_PORT_NAME_MAP", {name: _oid(PORT, index) for index, name, _, _ in ports}
    every = [(index, name, one) for index, name, _, _ in ports for one in range(PRIORITIES)]
    queues = {f"{name}:{one}": _oid(QUEUE, index, one) for index, name, one in every}
    yield "COUNTERS_QUEUE_NAME_MAP", queues
    yield "COUNTERS_QUEUE_TYPE_MAP", dict.fromkeys(queues.values(), "SAI_QUEUE_TYPE_UNICAST")
    yield (
        "COUNTERS_PG_NAME_MAP",
        {f"{name}:{one}": _oid(GROUP, index, one) for index, name, one in every},
    )
    for index, _, port, state in ports:
        yield f"COUNTERS:{_oid(PORT, index)}", _port_counters(port, state)
        yield (
            f"RATES:{_oid(PORT, index)}",
            {
                "FEC_PRE_BER": f"{state.pre_fec_ber:.6e}" if port.up else "nan",
                "FEC_POST_BER": "0",
            },
        )
        for one in range(PRIORITIES):
            yield f"COUNTERS:{_oid(QUEUE, index, one)}", _queue_counters(port, state, one)
            lost = state.ingress_drops if one == LOSSLESS[0] else 0.0
            drops = {f"{G}DROPPED_PACKETS": f"{lost:.0f}", f"{G}XOFF_ROOM_WATERMARK_BYTES": "0"}
            yield f"COUNTERS:{_oid(GROUP, index, one)}", drops


def _port_counters(port: PortState, state: EthernetState) -> Row:
    received, sent = port.rx_octets, port.tx_octets
    told = {
        "IF_IN_OCTETS": received,
        "IF_OUT_OCTETS": sent,
        "IF_IN_UCAST_PKTS": received / FRAME_BYTES,
        "IF_OUT_UCAST_PKTS": sent / FRAME_BYTES,
        "IF_IN_NON_UCAST_PKTS": 0.0,
        "IF_OUT_NON_UCAST_PKTS": 0.0,
        "IF_IN_ERRORS": state.rx_errors,
        "IF_OUT_ERRORS": 0.0,
        "IF_IN_DISCARDS": state.rx_discards,
        "IF_OUT_DISCARDS": state.tx_discards,
        "IF_IN_FEC_CORRECTABLE_FRAMES": state.corrected_codewords,
        "IF_IN_FEC_NOT_CORRECTABLE_FRAMES": state.uncorrectable,
        "IF_IN_FEC_SYMBOL_ERRORS": state.corrected_symbols,
        "IF_IN_FEC_CORRECTED_BITS": state.corrected_bits,
    }
    for count, words in enumerate(state.codewords):
        told[f"IF_IN_FEC_CODEWORD_ERRORS_S{count}"] = words
    for one in range(PRIORITIES):
        told[f"PFC_{one}_RX_PKTS"] = state.rx_pause_frames[one]
        told[f"PFC_{one}_TX_PKTS"] = state.tx_pause_frames[one]
        told[f"PFC_{one}_RX_PAUSE_DURATION_US"] = state.rx_pause_seconds[one] * MICROSECONDS
        told[f"PFC_{one}_TX_PAUSE_DURATION_US"] = state.tx_pause_seconds[one] * MICROSECONDS
    return {P + name: f"{value:.0f}" for name, value in told.items()}


def _queue_counters(port: PortState, state: EthernetState, queue: int) -> Row:
    carried = port.tx_octets if queue == LOSSLESS[0] else 0.0
    marked = state.ecn_marked if queue == LOSSLESS[0] else 0.0
    held = state.held if queue == LOSSLESS[0] else 0.0
    occupied = {} if state.held is None else {f"{Q}CURR_OCCUPANCY_BYTES": f"{held:.0f}"}
    return occupied | {
        f"{Q}PACKETS": f"{carried / FRAME_BYTES:.0f}",
        f"{Q}BYTES": f"{carried:.0f}",
        f"{Q}DROPPED_PACKETS": "0",
        f"{Q}WRED_ECN_MARKED_PACKETS": f"{marked:.0f}",
        "PFC_WD_STATUS": "operational",
        "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "0",
        "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED": "0",
    }


def _state(fabric: Fabric, switch: str) -> Iterator[tuple[str, Row]]:
    for _, name, port, state in _ports(fabric, switch):
        module = state.module
        lanes = module.lanes
        yield (
            f"TRANSCEIVER_INFO|{name}",
            {
                "type": "QSFP-DD Double Density 8X Pluggable Transceiver",
                "manufacturer": module.vendor,
                "model": module.part,
                "serial": module.serial,
                "vendor_rev": "A1",
                "vendor_date": f"20{module.lot[:2]}-{module.lot[2:]}-01 {module.lot[:2]}",
                "cmis_rev": "5.0",
                "media_lane_count": str(lanes),
                "host_lane_count": "8",
            },
        )
        yield f"TRANSCEIVER_FIRMWARE_INFO|{name}", {"active_firmware": module.firmware}
        sensors = {"temperature": f"{module.temperature:.3f}", "voltage": f"{module.voltage:.3f}"}
        for lane in range(8):
            there = lane < lanes
            sensors[f"rx{lane + 1}power"] = f"{module.rx_dbm[lane]:.3f}" if there else "-inf"
            sensors[f"tx{lane + 1}power"] = f"{module.tx_dbm[lane]:.3f}" if there else "-inf"
            sensors[f"tx{lane + 1}bias"] = f"{module.bias_ma[lane]:.3f}" if there else "0.0"
        yield f"TRANSCEIVER_DOM_SENSOR|{name}", sensors
        yield f"TRANSCEIVER_DOM_THRESHOLD|{name}", _limits(module.built)
        lost = "False" if port.up else "True"
        yield (
            f"TRANSCEIVER_STATUS_FLAG|{name}",
            {f"rx{lane + 1}los": lost for lane in range(lanes)},
        )
        if port.up:
            measured = {}
            for side, ratios, rates in (
                ("media", module.snr_db, module.ber_media),
                ("host", module.snr_host_db, module.ber_host),
            ):
                for lane, (snr, ber) in enumerate(zip(ratios, rates, strict=True), 1):
                    measured[f"esnr_{side}_input{lane}"] = f"{snr:.3f}"
                    measured[f"prefec_ber_avg_{side}_input{lane}"] = f"{max(ber, 1e-15):.3e}"
            yield f"TRANSCEIVER_VDM_REAL_VALUE|{name}", measured


LIMITED = {
    "temperature": "temp",
    "supply_voltage": "vcc",
    "rx_power": "rxpower",
    "tx_power": "txpower",
    "tx_bias": "txbias",
}
"""Quantities as the table of limits calls them."""


def _limits(kind: ModuleKind) -> Row:
    """Return a module's own limits, in C, V, dBm and mA."""
    return {
        f"{LIMITED[quantity]}{bound}{level}": f"{value:.3f}"
        for quantity, limits in kind.limits.items()
        for bound, level, value in (
            ("high", "alarm", limits.high_alarm),
            ("high", "warning", limits.high_warning),
            ("low", "warning", limits.low_warning),
            ("low", "alarm", limits.low_alarm),
        )
    }


def _config(fabric: Fabric, switch: str) -> Iterator[tuple[str, Row]]:
    lossless = ",".join(map(str, LOSSLESS))
    buffers = fabric.buffers[switch]
    yield "BUFFER_POOL|ingress_lossless_pool", {"size": str(buffers.pool), "mode": "dynamic"}
    yield (
        f"BUFFER_PROFILE|{PROFILE}",
        {
            "xoff": str(buffers.headroom),
            "dynamic_th": str(buffers.exponent),
            "pool": "ingress_lossless_pool",
            "size": "38912",
        },
    )
    yield (
        "WRED_PROFILE|AZURE_LOSSLESS",
        {
            "ecn": "ecn_all" if buffers.marks else "ecn_none",
            "green_min_threshold": str(buffers.least),
            "green_max_threshold": str(buffers.most),
        },
    )
    for _, name, _, _ in _ports(fabric, switch):
        yield f"PORT_QOS_MAP|{name}", {"pfc_enable": lossless}
        yield f"BUFFER_PG|{name}|{LOSSLESS[0]}-{LOSSLESS[1]}", {"profile": PROFILE}
        for queue in LOSSLESS:
            yield f"QUEUE|{name}|{queue}", {"wred_profile": "AZURE_LOSSLESS"}


TABLES = {APPL: _appl, COUNTERS: _counters, CONFIG: _config, STATE: _state}


def _oid(kind: int, index: int, part: int = 0) -> str:
    return f"oid:0x{kind << 32 | index << 8 | part:x}"
