"""Link: one device's ports, both ends of each cable, from state to light."""

from dashboards.board import BAD_OK, Board, Query, Question, Row, Variable
from fabrichealth.catalogue.optics import RX_POWER, TX_BIAS, TX_POWER
from fabrichealth.catalogue.optics import TEMPERATURE as OPTICS_TEMPERATURE
from fabrichealth.catalogue.ports import (
    FEC_CORRECTED_BITS,
    FEC_UNCORRECTABLE_CODEWORDS,
    LINK_DOWNS,
    LINK_RECOVERIES,
    PORT_INFO,
    REPLAYS,
    RX_BYTES,
    RX_CRC_ERRORS,
    SPEED,
    SYMBOL_ERRORS,
    TX_BYTES,
    UP,
)
from fabrichealth.catalogue.verdicts import LINK_HEALTH, LINK_STATE, SECONDS_TO_LIMIT
from fabrichealth.metric import Metric

HERE = '{device=~"$device",port=~"$port"}'
SIDE = '{side=~"($device)/.*",side=~".*/($port)"}'
END = "{{device}}/{{port}}"
LANE = "{{device}}/{{port}} lane {{lane}}"


def _rate(metric: Metric, factor: str = "") -> Query:
    return Query(f"rate({metric}{HERE}[$__rate_interval]){factor}", END)


def _errors(title: str, metric: Metric, about: str) -> Question:
    return Question(title, [_rate(metric)], about, width=8)


BOARD = Board(
    uid="fabrichealth-link",
    title="Fabric health / link",
    about="State, speed, errors, traffic and light of the ports chosen.",
    variables=(
        Variable("device", "Device", f"label_values({UP}, device)"),
        Variable("port", "Port", f'label_values({UP}{{device=~"$device"}}, port)'),
    ),
    opens_on=("device", "port"),
    rows=(
        Row(
            "State",
            (
                Question(
                    "Up",
                    [Query(f"{UP}{HERE}", END)],
                    "1 up, 0 down.",
                    kind="state",
                    width=12,
                    steps=BAD_OK,
                ),
                Question(
                    "Speed",
                    [Query(f"{SPEED}{HERE}", END)],
                    "Negotiated speed.",
                ),
                Question(
                    "What it faces",
                    [Query(f"{PORT_INFO}{HERE}", table=True)],
                    "Cable, peer and place as written and as the devices say.",
                    kind="table",
                    width=24,
                    height=6,
                    hidden=("Value",),
                ),
            ),
        ),
        Row(
            "Verdict",
            (
                Question(
                    "Health",
                    [Query(f"{LINK_HEALTH}{SIDE}", "{{side}}")],
                    "1 normal or better, 0.5 at the warning limit of its technology, 0 at the "
                    "error limit; absent while there were not bits enough.",
                    width=8,
                ),
                Question(
                    "State",
                    [Query(f"{LINK_STATE}{SIDE}", "{{side}}: {{state}}")],
                    "Healthy, watch, subhealthy, drain, down or unknown, by receiving end.",
                    width=8,
                ),
                Question(
                    "Days to the error limit",
                    [
                        Query(
                            f"{SECONDS_TO_LIMIT} / 86400"
                            f" * on (link) group_left () max by (link) ({LINK_STATE}{SIDE})",
                            "{{link}}, {{quantile}}",
                        )
                    ],
                    "Forecast at 10, 50 and 90 %; absent where no trend is proven.",
                    width=8,
                    unit="d",
                ),
            ),
        ),
        Row(
            "Errors",
            (
                _errors("Symbol errors per second", SYMBOL_ERRORS, "Left after FEC and retry."),
                _errors("Checksum errors per second", RX_CRC_ERRORS, "FCS, ICRC or flit CRC."),
                _errors("Replays per second", REPLAYS, "Link-level retransmissions."),
                Question(
                    "Falls and retrains per hour",
                    [
                        Query(f"increase({LINK_DOWNS}{HERE}[1h])", f"{END} falls"),
                        Query(f"increase({LINK_RECOVERIES}{HERE}[1h])", f"{END} retrains"),
                    ],
                    "Down, or trained again without going down.",
                    width=8,
                ),
                _errors("Corrected bits per second", FEC_CORRECTED_BITS, "What FEC repaired."),
                _errors(
                    "Uncorrectable codewords per second",
                    FEC_UNCORRECTABLE_CODEWORDS,
                    "What FEC could not repair.",
                ),
            ),
        ),
        Row(
            "Traffic",
            (
                Question("Received", [_rate(RX_BYTES, " * 8")], "Payload received."),
                Question("Sent", [_rate(TX_BYTES, " * 8")], "Payload sent."),
            ),
        ),
        Row(
            "Light",
            (
                Question(
                    "Received power",
                    [Query(f"{RX_POWER}{HERE}", LANE)],
                    "Per lane; -40 dBm is dark.",
                ),
                Question("Sent power", [Query(f"{TX_POWER}{HERE}", LANE)], "Per lane."),
                Question("Laser bias", [Query(f"{TX_BIAS}{HERE}", LANE)], "Rises as a laser ages."),
                Question(
                    "Module temperature",
                    [Query(f"{OPTICS_TEMPERATURE}{HERE}", END)],
                    "Of the module's case.",
                ),
            ),
        ),
    ),
)
