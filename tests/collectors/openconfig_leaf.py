"""A small switch by OpenConfig's models: values by path, as JSON_IETF has them."""

from typing import Any

IF = "/interfaces/interface[name=Ethernet1/1]"
C = "/components/component[name=Ethernet1/1 transceiver]"
T = f"{C}/transceiver"

LEAF: dict[str, Any] = {
    f"{IF}/state": {
        "openconfig-interfaces:oper-status": "UP", "admin-status": "UP",
        "type": "iana-if-type:ethernetCsmacd",
        "openconfig-platform-transceiver:transceiver": "Ethernet1/1 transceiver",
        "counters": {"in-octets": "18446744073709551615", "out-octets": "7", "in-fcs-errors": "2"},
    },
    f"{IF}/ethernet/state": {
        "port-speed": "openconfig-if-ethernet:SPEED_400GB",
        "pre-fec-ber": {"instant": "0.000000001500000000"},
        "counters": {"fec-corrected-blocks": "9", "in-mac-pause-frames": "4"},
    },
    "/interfaces/interface[name=Loopback0]/state": {
        "oper-status": "UP", "type": "iana-if-type:softwareLoopback",
    },
    f"{T}/state": {
        "vendor": "ACME", "vendor-part": "X-400", "serial-no": "S1",
        "supply-voltage": {"instant": "3.31"},
        "connector-type": "openconfig-transport-types:MPO_CONNECTOR",
    },
    f"{T}/physical-channels": {"channel": [
        {"index": 0, "state": {"input-power": {"instant": "-1.50"},
                               "laser-bias-current": {"instant": "7.50"},
                               "rx-los": False, "laser-age": 12,
                               "media-snr": {"instant": "21.0"}}},
        {"index": 1, "state": {"input-power": {"instant": "-40.00"}, "tx-failure": True}},
    ]},
    f"{T}/host-lanes": {"lane": [{"lane-number": 1, "state": {"tx-los": True}}]},
    f"{T}/thresholds": {"threshold": [
        {"severity": "openconfig-alarm-types:CRITICAL", "state": {"input-power-lower": "-11.9"}},
        {"severity": "WARNING", "state": {"laser-bias-current-upper": "13.0"}},
        {"severity": "UNKNOWN", "state": {"input-power-lower": "-1"}},
    ]},
    f"{C}/state": {"temperature": {"instant": "41.5"}},
    "/components/component[name=Inlet]/state": {"temperature": {"instant": 24.0}},
    "/components/component[name=Fan1]/fan/state": {"speed": 4410},
    "/qos/interfaces/interface[interface-id=Ethernet1/1]/output/queues/queue[name=UC3]/state": {
        "transmit-pkts": "70", "ecn-marked-pkts": "9", "max-queue-len": "8400",
    },
    "/lldp/interfaces/interface[name=Ethernet1/1]/neighbors/neighbor[id=1]/state": {
        "system-name": "spine-1", "port-id": "Ethernet32", "port-id-type": "INTERFACE_NAME",
    },
}  # fmt: skip


def notified(content: dict[str, Any], stamp: int = 0) -> list[dict[str, Any]]:
    """Return notifications as gnmic prints them."""
    return [
        {"timestamp": stamp, "updates": [{"Path": where.strip("/"), "values": {"x": value}}]}
        for where, value in content.items()
    ]
