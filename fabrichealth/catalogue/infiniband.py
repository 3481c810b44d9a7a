"""InfiniBand: the classic error counters of a port beyond those that every link has (IBTA PMA)."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

COUNT = (0.0, 2.0**64)

RX_REMOTE_PHYSICAL_ERRORS = Metric(
    name="port_rx_remote_physical_errors_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Packets received that another switch had already marked as bad.",
    valid=COUNT,
)

RX_SWITCH_RELAY_ERRORS = Metric(
    name="port_rx_switch_relay_errors_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Packets received that could not be forwarded.",
    valid=COUNT,
)

RX_CONSTRAINT_ERRORS = Metric(
    name="port_rx_constraint_errors_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Packets received and refused by partition or policy.",
    valid=COUNT,
)

TX_CONSTRAINT_ERRORS = Metric(
    name="port_tx_constraint_errors_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Packets not sent by partition or policy.",
    valid=COUNT,
)

LOCAL_INTEGRITY_ERRORS = Metric(
    name="port_local_integrity_errors_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Times that local physical errors passed the port's threshold.",
    valid=COUNT,
)

BUFFER_OVERRUNS = Metric(
    name="port_buffer_overruns_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Times that flow control failed and a receive buffer ran over.",
    valid=COUNT,
)

MANAGEMENT_DROPS = Metric(
    name="port_management_drops_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Management packets (virtual lane 15) that were dropped.",
    valid=COUNT,
)

DESCRIPTION_INFO = Metric(
    name="node_description_info",
    kind=Kind.INFO,
    unit=Unit.NONE,
    subject=Subject.DEVICE,
    help="What the node calls itself; it may change and repeat, so it names nothing.",
    extra=("description",),
)
