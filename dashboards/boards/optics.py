"""Optics: the population by part and lot, what is close to its limits, what drifts, and lanes."""

from dashboards.board import OK_BAD, Board, Query, Question, Row, Variable
from dashboards.incidents import how_many
from fabrichealth.catalogue.optics import (
    OPTICS_INFO,
    PRE_FEC_BER,
    RX_POWER,
    SNR,
    TEMPERATURE,
    THRESHOLD,
    TX_BIAS,
    TX_FAULT,
    TX_POWER,
)
from fabrichealth.kinds import OPTICS_DEGRADING, OPTICS_OVERHEATING
from fabrichealth.metric import Metric

HERE = '{device=~"$device",port=~"$port"}'
MODULE = "{{device}}/{{port}}"
LANE = "{{device}}/{{port}} lane {{lane}}"
OF_PART = (
    f"* on (device, port) group_left (part, lot) max by (device, port, part, lot) "
    f'({OPTICS_INFO}{{part=~"$part"}})'
)
"""Joins what a module is; `max by` makes one row of it where two collectors read the same port."""

LIT = "> -30"
"""Lanes with light worth the name."""


def _limit(quantity: str, bound: str, unset: str) -> str:
    chosen = f'{{quantity="{quantity}",bound="{bound}",level="warning"}}'
    return f"max by (device, port) ({THRESHOLD}{chosen} {unset})"


def _over_parts(metric: Metric, by: str, share: float) -> Query:
    middle = f"quantile by ({by}) ({share}, {metric} {OF_PART})"
    return Query(middle, f"{{{{{by}}}}} {share:.0%}")


def _lanes(metric: Metric, title: str, about: str) -> Question:
    side = " {{side}}" if "side" in metric.labels else ""
    return Question(title, [Query(f"{metric}{HERE}", LANE + side)], about)


BOARD = Board(
    uid="fabrichealth-optics",
    title="Fabric health / optics",
    about="Modules by part and lot, their margins and trends, and the lanes of those chosen.",
    variables=(
        Variable("part", "Part", f"label_values({OPTICS_INFO}, part)"),
        Variable("device", "Device", f"label_values({RX_POWER}, device)"),
        Variable("port", "Port", f'label_values({RX_POWER}{{device=~"$device"}}, port)'),
    ),
    opens_on=("device", "port"),
    rows=(
        Row(
            "Now",
            (
                how_many(
                    "Ill modules",
                    (
                        OPTICS_DEGRADING,
                        OPTICS_OVERHEATING,
                    ),
                    "Open incidents of optics that are not suppressed.",
                ),
                Question(
                    "Modules",
                    [Query(f"count(max by (device, port) ({OPTICS_INFO}))", "modules")],
                    "Ports whose module says what it is.",
                    kind="stat",
                    width=6,
                    height=5,
                ),
                Question(
                    "Dark lanes",
                    [Query(f"count({RX_POWER} <= -30) or vector(0)", "dark")],
                    "Lanes that receive no light: unplugged, switched off, or ill.",
                    kind="stat",
                    width=6,
                    height=5,
                ),
                Question(
                    "Transmitter faults",
                    [Query(f"count({TX_FAULT} == 1) or vector(0)", "faults")],
                    "Lanes whose transmitter the module itself calls faulty.",
                    kind="stat",
                    width=6,
                    height=5,
                    steps=OK_BAD,
                ),
            ),
        ),
        Row(
            "Population",
            (
                Question(
                    "Parts and lots",
                    [
                        Query(
                            f"count by (vendor, part, lot, firmware, kind) "
                            f'({OPTICS_INFO}{{part=~"$part"}})',
                            table=True,
                        )
                    ],
                    "How many modules there are of each part, lot and firmware.",
                    kind="table",
                    height=9,
                ),
                Question(
                    "Temperature by part",
                    [_over_parts(TEMPERATURE, "part", share) for share in (0.5, 0.95)],
                    "Median and 95 % quantile of the case over all modules of a part.",
                    height=9,
                ),
                Question(
                    "Light received by part",
                    [_over_parts(RX_POWER, "part", share) for share in (0.05, 0.5)],
                    "Median and 5 % quantile over lanes: below the latter a lane is low.",
                ),
                Question(
                    "Laser bias by lot",
                    [_over_parts(TX_BIAS, "lot", 0.5)],
                    "A lot whose median leaves the others ages faster.",
                ),
            ),
        ),
        Row(
            "Closest to the module's own limits",
            (
                Question(
                    "Light received above the low warning",
                    [
                        Query(
                            f"bottomk(10, min by (device, port) ({RX_POWER} {LIT}) - "
                            f"{_limit('rx_power', 'low', '> -40')})",
                            MODULE,
                        )
                    ],
                    "dB left on the worst lit lane; below 0 the module itself would warn.",
                    unit="dB",
                    width=8,
                ),
                Question(
                    "Bias of its high warning",
                    [
                        Query(
                            f"topk(10, max by (device, port) ({TX_BIAS}) / "
                            f"{_limit('tx_bias', 'high', '> 0')})",
                            MODULE,
                        )
                    ],
                    "Share of the bias at which the module warns, on the worst lane.",
                    unit="percentunit",
                    width=8,
                ),
                Question(
                    "Kelvin below the high warning",
                    [
                        Query(
                            f"bottomk(10, {_limit('temperature', 'high', '> 0')} - "
                            f"max by (device, port) ({TEMPERATURE}))",
                            MODULE,
                        )
                    ],
                    "Below 0 the module itself would warn.",
                    unit="celsius",
                    width=8,
                ),
            ),
        ),
        Row(
            "What drifts",
            (
                Question(
                    "Light received against a week ago",
                    [
                        Query(
                            f"bottomk(10, avg_over_time({RX_POWER}[1h]) - "
                            f"avg_over_time({RX_POWER}[1h] offset 7d))",
                            LANE,
                        )
                    ],
                    "dB lost within a week.",
                    width=8,
                ),
                Question(
                    "Bias against a week ago",
                    [
                        Query(
                            f"topk(10, avg_over_time({TX_BIAS}[1d]) / "
                            f"avg_over_time({TX_BIAS}[1d] offset 7d))",
                            LANE,
                        )
                    ],
                    "Over whole days, so that the daily cycle of temperature falls out.",
                    width=8,
                ),
                Question(
                    "Spread between a module's lanes",
                    [
                        Query(
                            f"topk(10, max by (device, port) ({RX_POWER} {LIT}) - "
                            f"min by (device, port) ({RX_POWER} {LIT}))",
                            MODULE,
                        )
                    ],
                    "dB between the brightest and the dimmest lit lane.",
                    width=8,
                ),
            ),
        ),
        Row(
            "Lanes of the ports chosen",
            (
                _lanes(RX_POWER, "Light received", "Per lane; -40 dBm is dark."),
                _lanes(TX_POWER, "Light sent", "Per lane."),
                _lanes(TX_BIAS, "Laser bias", "Rises as a laser ages."),
                _lanes(SNR, "Signal-to-noise ratio", "Media: receiver; host: socket."),
                _lanes(PRE_FEC_BER, "Bit errors before FEC", "As the module counts them."),
                Question(
                    "Temperature",
                    [Query(f"{TEMPERATURE}{HERE}", MODULE)],
                    "Of the module's case.",
                ),
            ),
        ),
    ),
)
