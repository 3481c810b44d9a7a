"""UFM's telemetry of the rails of an emulated supernode, as CSV over HTTP.

Written from the telemetry's documented counter sets: one row a port, found by names of columns.
"""

from emulator.fabric import Fabric
from emulator.tools.infiniband import Subnet, counters

NAMES = {
    "PortXmitData": "PortXmitDataExtended",
    "PortRcvData": "PortRcvDataExtended",
    "PortXmitPkts": "PortXmitPktsExtended",
    "PortRcvPkts": "PortRcvPktsExtended",
    "SymbolErrorCounter": "SymbolErrorCounterExtended",
    "LinkErrorRecoveryCounter": "LinkErrorRecoveryCounterExtended",
    "LinkDownedCounter": "LinkDownedCounterExtended",
    "PortRcvErrors": "PortRcvErrorsExtended",
    "PortXmitDiscards": "PortXmitDiscardsExtended",
    "PortXmitWait": "PortXmitWaitExtended",
}
COLUMNS = ("timestamp", "source_id", "node_guid", "port_guid", "port_num", *NAMES.values())


def page(fabric: Fabric) -> str:
    """Return the CSV that UFM serves now; times are in microseconds."""
    stamp = round(fabric.now * 1e6)
    lines = [",".join(COLUMNS)]
    for node in Subnet(fabric).nodes:
        guid = f"0x{node.guid}"
        for number, port in enumerate(node.ports, start=1):
            told = dict(counters(port))
            row = [stamp, "ufm", guid, guid, number, *(told[name] for name in NAMES)]
            lines.append(",".join(map(str, row)))
    return "\n".join(lines) + "\n"
