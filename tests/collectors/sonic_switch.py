"""The databases of a small SONiC switch, as hashes of text."""

from typing import Any

Databases = dict[str, dict[str, dict[str, str]]]

P, Q = "SAI_PORT_STAT_", "SAI_QUEUE_STAT_"
NUMBERS = {"APPL_DB": 0, "COUNTERS_DB": 2, "CONFIG_DB": 4, "STATE_DB": 6}


def port_counters(count: int = 1000, bins: int = 16) -> dict[str, str]:
    """Return the counters of one port."""
    told = {
        "IF_IN_OCTETS": 64 * count,
        "IF_OUT_OCTETS": 65 * count,
        "IF_IN_UCAST_PKTS": count,
        "IF_IN_NON_UCAST_PKTS": 7,
        "IF_OUT_UCAST_PKTS": count,
        "IF_OUT_NON_UCAST_PKTS": 8,
        "IF_IN_ERRORS": 3,
        "IF_IN_DISCARDS": 4,
        "IF_OUT_DISCARDS": 5,
        "ETHER_STATS_CRC_ALIGN_ERRORS": 2,
        "PFC_3_RX_PKTS": 11,
        "PFC_3_TX_PKTS": 12,
        "PFC_3_RX_PAUSE_DURATION_US": 2_500_000,
        "PFC_4_RX_PAUSE_DURATION": 1_500_000,
        "IF_IN_FEC_CORRECTABLE_FRAMES": 21,
        "IF_IN_FEC_NOT_CORRECTABLE_FRAMES": 1,
        "IF_IN_FEC_SYMBOL_ERRORS": 22,
        "IF_IN_FEC_CORRECTED_BITS": 23,
        **{f"IF_IN_FEC_CODEWORD_ERRORS_S{n}": 100 - n for n in range(bins)},
    }
    return {P + name: str(value) for name, value in told.items()}


def switch(ports: int = 2) -> Databases:
    """Return the databases of a switch of 400 Gb/s ports that is well."""
    names = [f"Ethernet{8 * n}" for n in range(ports)]
    counters: dict[str, dict[str, str]] = {
        "COUNTERS_PORT_NAME_MAP": {name: f"oid:0x1{n:04x}" for n, name in enumerate(names)},
        "COUNTERS_QUEUE_NAME_MAP": {
            f"{name}:{q}": f"oid:0x15{n:04x}{q:02x}" for n, name in enumerate(names)
            for q in (0, 3, 10)
        },
        "COUNTERS_QUEUE_TYPE_MAP": {
            f"oid:0x15{n:04x}{q:02x}": f"SAI_QUEUE_TYPE_{'MULTICAST' if q == 10 else 'UNICAST'}"
            for n in range(ports) for q in (0, 3, 10)
        },
        "COUNTERS_PG_NAME_MAP": {
            f"{name}:{g}": f"oid:0x1a{n:04x}{g:02x}" for n, name in enumerate(names)
            for g in (0, 3)
        },
    }  # fmt: skip
    appl: dict[str, dict[str, str]] = {}
    state: dict[str, dict[str, str]] = {}
    config: dict[str, dict[str, str]] = {}
    for n, name in enumerate(names):
        counters[f"COUNTERS:oid:0x1{n:04x}"] = port_counters(1000 + n)
        counters[f"RATES:oid:0x1{n:04x}"] = {
            "RX_BPS": "2.e9", "FEC_PRE_BER": "1.5e-09", "FEC_POST_BER": "inf", "FEC_MAX_T": "-1",
        }  # fmt: skip
        for q in (0, 3, 10):
            counters[f"COUNTERS:oid:0x15{n:04x}{q:02x}"] = {
                f"{Q}PACKETS": "70", f"{Q}BYTES": "7000", f"{Q}DROPPED_PACKETS": "6",
                f"{Q}CURR_OCCUPANCY_BYTES": "4200", f"{Q}SHARED_WATERMARK_BYTES": "8400",
                f"{Q}WRED_ECN_MARKED_PACKETS": "9",
                "PFC_WD_STATUS": "operational", "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "2",
                "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED": "1",
            }  # fmt: skip
        for g in (0, 3):
            key = f"COUNTERS:oid:0x1a{n:04x}{g:02x}"
            counters[key] = {"SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS": "13"}
        appl[f"PORT_TABLE:{name}"] = {
            "alias": f"etp{n + 1}", "lanes": ",".join(str(8 * n + k) for k in range(4)),
            "speed": "400000", "fec": "rs", "oper_status": "up", "admin_status": "up",
        }  # fmt: skip
        appl[f"LLDP_ENTRY_TABLE:{name}"] = {
            "lldp_rem_sys_name": f"host-{n}", "lldp_rem_port_id": "eth0",
            "lldp_rem_port_id_subtype": "5",
        }  # fmt: skip
        state |= module(name)
        config[f"PORT_QOS_MAP|{name}"] = {"pfc_enable": "3,4"}
        config[f"BUFFER_PG|{name}|3-4"] = {"profile": "pg_lossless_400000_5m_profile"}
        config[f"QUEUE|{name}|3"] = {"wred_profile": "AZURE_LOSSLESS"}
    config["BUFFER_POOL|ingress_lossless_pool"] = {"size": "33554432", "mode": "dynamic"}
    config["BUFFER_PROFILE|pg_lossless_400000_5m_profile"] = {
        "xoff": "98304", "dynamic_th": "-1", "pool": "ingress_lossless_pool", "size": "19456",
    }  # fmt: skip
    config["WRED_PROFILE|AZURE_LOSSLESS"] = {
        "ecn": "ecn_all", "green_min_threshold": "250000", "green_max_threshold": "1048576",
    }  # fmt: skip
    return {"APPL_DB": appl, "COUNTERS_DB": counters, "CONFIG_DB": config, "STATE_DB": state}


def module(port: str, lanes: int = 4, **dom: str) -> dict[str, dict[str, str]]:
    """Return the rows of a module with so many media lanes, of which tables show eight."""
    sensors = {
        "temperature": "41.5",
        "voltage": "3.29",
        "last_update_time": "Fri Jan 09 07:33:16 2026",
    }
    for lane in range(1, 9):
        there = lane <= lanes
        sensors |= {
            f"rx{lane}power": "-1.5" if there else "-inf",
            f"tx{lane}power": "0.5" if there else "-inf",
            f"tx{lane}bias": "7.5" if there else "0.0",
        }
    return {
        f"TRANSCEIVER_INFO|{port}": {
            "manufacturer": "ACME", "model": "X-400", "serial": "S1", "vendor_date": "2024-07-01 A",
            "connector": "MPO 1x12", "media_lane_count": str(lanes), "host_lane_count": "8",
        },
        f"TRANSCEIVER_FIRMWARE_INFO|{port}": {"active_firmware": "1.2.3"},
        f"TRANSCEIVER_DOM_SENSOR|{port}": sensors | dom,
        f"TRANSCEIVER_DOM_THRESHOLD|{port}": {
            "temphighalarm": "75.0", "rxpowerlowwarning": "-8.9", "txbiashighalarm": "15.0",
            "vcclowalarm": "N/A",
        },
        f"TRANSCEIVER_DOM_FLAG|{port}": {"tempHAlarm": "False", "rx2powerLWarn": "True"},
        f"TRANSCEIVER_STATUS_FLAG|{port}": {
            "rx1los": "False", "tx3fault": "True", "tx8los_hostlane": "False", "rx8los": "True",
        },
        f"TRANSCEIVER_VDM_REAL_VALUE|{port}": {
            "esnr_media_input1": "21.5", "prefec_ber_avg_media_input1": "1e-9",
            "prefec_ber_curr_media_input1": "2e-9", "laser_temperature_media1": "48.0",
        },
        f"TRANSCEIVER_VDM_LWARN_FLAG|{port}": {"esnr_media_input1": "True"},
    }  # fmt: skip


def changed(found: Databases, database: str, key: str, **fields: Any) -> Databases:
    """Return the databases with some fields of a hash changed; None takes one away."""
    row = found[database].setdefault(key, {})
    for name, value in fields.items():
        if value is None:
            row.pop(name, None)
        else:
            row[name] = value
    return found
