"""Ports: the link layer as each end sees it."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

FLAG = (0.0, 1.0)
COUNT = (0.0, 2.0**64)
RATE = (0.0, 1e14)
BER = (0.0, 0.5)

UP = Metric(
    name="port_up",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="1 operationally up, 0 down.",
    valid=FLAG,
)

ADMIN_UP = Metric(
    name="port_admin_up",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="1 enabled by configuration, 0 disabled.",
    valid=FLAG,
)

NETWORK_HEALTHY = Metric(
    name="port_network_healthy",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="The device's own verdict of the network behind the port, where it gives one.",
    valid=FLAG,
)

SPEED = Metric(
    name="port_speed_bits_per_second",
    kind=Kind.GAUGE,
    unit=Unit.BITS_PER_SECOND,
    subject=Subject.PORT,
    help="Negotiated speed per direction.",
    valid=(1e6, 1e14),
)

LANES = Metric(
    name="port_lanes",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Active lanes.",
    valid=(0.0, 64.0),
)

MAX_SPEED = Metric(
    name="port_max_speed_bits_per_second",
    kind=Kind.GAUGE,
    unit=Unit.BITS_PER_SECOND,
    subject=Subject.PORT,
    help="Fastest speed that the port could have, where the device says it (PCIe).",
    valid=(1e6, 1e14),
)

MAX_LANES = Metric(
    name="port_max_lanes",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Most lanes that the port could have, where the device says it (PCIe).",
    valid=(0.0, 64.0),
)

RX_BYTES = Metric(
    name="port_rx_bytes_total",
    kind=Kind.COUNTER,
    unit=Unit.BYTES,
    subject=Subject.PORT,
    help="Payload received as the device counts it.",
    valid=COUNT,
)

TX_BYTES = Metric(
    name="port_tx_bytes_total",
    kind=Kind.COUNTER,
    unit=Unit.BYTES,
    subject=Subject.PORT,
    help="Payload sent as the device counts it.",
    valid=COUNT,
)

RX_BYTES_PER_SECOND = Metric(
    name="port_rx_bytes_per_second",
    kind=Kind.GAUGE,
    unit=Unit.BYTES_PER_SECOND,
    subject=Subject.PORT,
    help="Payload received per second, only where the device gives no counter.",
    valid=RATE,
)

TX_BYTES_PER_SECOND = Metric(
    name="port_tx_bytes_per_second",
    kind=Kind.GAUGE,
    unit=Unit.BYTES_PER_SECOND,
    subject=Subject.PORT,
    help="Payload sent per second, only where the device gives no counter.",
    valid=RATE,
)

RX_PACKETS = Metric(
    name="port_rx_packets_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Packets or flits received; label packets of the info series says which.",
    valid=COUNT,
)

TX_PACKETS = Metric(
    name="port_tx_packets_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Packets or flits sent; label packets of the info series says which.",
    valid=COUNT,
)

RX_ERRORS = Metric(
    name="port_rx_errors_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="All receive errors.",
    valid=COUNT,
)

RX_CRC_ERRORS = Metric(
    name="port_rx_crc_errors_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Received with a wrong FCS, ICRC or flit CRC.",
    valid=COUNT,
)

RX_DISCARDS = Metric(
    name="port_rx_discards_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Received and dropped without an error.",
    valid=COUNT,
)

TX_DISCARDS = Metric(
    name="port_tx_discards_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="To be sent and dropped without an error.",
    valid=COUNT,
)

SYMBOL_ERRORS = Metric(
    name="port_symbol_errors_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Errors left after FEC and link retry (InfiniBand symbol errors).",
    valid=COUNT,
)

LINK_DOWNS = Metric(
    name="port_link_down_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Transitions of the link to down.",
    valid=COUNT,
)

LINK_RECOVERIES = Metric(
    name="port_link_recoveries_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Retrains without going down.",
    valid=COUNT,
)

REPLAYS = Metric(
    name="port_replays_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Link-level retransmissions (NVLink replay, PLR, LLR, PCIe or CXL replay).",
    valid=COUNT,
)

FEC_CORRECTED_BITS = Metric(
    name="port_fec_corrected_bits_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Bits that FEC repaired.",
    valid=COUNT,
)

FEC_CORRECTED_SYMBOLS = Metric(
    name="port_fec_corrected_symbols_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Symbols that FEC repaired.",
    valid=COUNT,
)

FEC_CORRECTED_CODEWORDS = Metric(
    name="port_fec_corrected_codewords_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Codewords that FEC repaired.",
    valid=COUNT,
)

FEC_UNCORRECTABLE_CODEWORDS = Metric(
    name="port_fec_uncorrectable_codewords_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Codewords that FEC could not repair.",
    valid=COUNT,
)

FEC_CODEWORDS = Metric(
    name="port_fec_codewords_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="Codewords by the symbol errors in them; uncorrectable ones are in no bin.",
    valid=COUNT,
    extra=("errors",),
)

LANE_PRE_FEC_BER = Metric(
    name="port_lane_pre_fec_bit_error_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.LANE,
    help="Bit error ratio before FEC of one lane, where reported.",
    valid=BER,
)

LANE_ERRORS = Metric(
    name="port_lane_errors_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.LANE,
    help="Errors before FEC of one lane, where counted.",
    valid=COUNT,
)

PRE_FEC_BER = Metric(
    name="port_pre_fec_bit_error_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.PORT,
    help="Bit error ratio before FEC as the device reports it.",
    valid=BER,
)

POST_FEC_BER = Metric(
    name="port_post_fec_bit_error_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.PORT,
    help="Bit error ratio after FEC (effective BER on InfiniBand).",
    valid=BER,
)

SYMBOL_ERROR_RATIO = Metric(
    name="port_symbol_error_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.PORT,
    help="Error ratio after FEC and link retry (symbol BER).",
    valid=BER,
)

TRANSMIT_WAIT = Metric(
    name="port_transmit_wait_seconds_total",
    kind=Kind.COUNTER,
    unit=Unit.SECONDS,
    subject=Subject.PORT,
    help="Time with data to send but no credits.",
    valid=COUNT,
)

PORT_INFO = Metric(
    name="port_info",
    kind=Kind.INFO,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="What the port is and what it faces.",
    extra=(
        "domain",
        "rack",
        "role",
        "technology",
        "medium",
        "fec",
        "peer_device",
        "peer_port",
        "link",
        "bundle",
        "uid",
        "packets",
    ),
)

LINK_INFO = Metric(
    name="link_info",
    kind=Kind.INFO,
    unit=Unit.NONE,
    subject=Subject.LINK,
    help="What the link is.",
    extra=("domain", "technology", "medium", "speed", "a", "b"),
)

NEIGHBOR_INFO = Metric(
    name="neighbor_info",
    kind=Kind.INFO,
    unit=Unit.NONE,
    subject=Subject.PORT,
    help="What the port hears of its far end.",
    extra=("remote_device", "remote_port", "via"),
)

CABLE_LENGTH = Metric(
    name="port_cable_length_meters",
    kind=Kind.GAUGE,
    unit=Unit.METERS,
    subject=Subject.PORT,
    help="Length of the cable in the port, as it is recorded.",
    valid=(0.0, 200_000.0),
)
