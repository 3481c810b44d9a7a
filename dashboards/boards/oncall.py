"""On call: one incident and all the evidence there is of its culprit, on one page."""

from dashboards.board import RATE, Board, Name, Query, Question, Row, Variable
from dashboards.culprit import of, of_ports
from dashboards.incidents import listed
from fabrichealth.catalogue.accelerators import TEMPERATURE as CHIP_TEMPERATURE
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE, PFC_TX_PAUSE
from fabrichealth.catalogue.cooling import COOLANT_TEMPERATURE, FLOW, LEAK, RESERVOIR_LEVEL
from fabrichealth.catalogue.devices import DEVICE_UP
from fabrichealth.catalogue.optics import PRE_FEC_BER, RX_POWER
from fabrichealth.catalogue.optics import TEMPERATURE as MODULE_TEMPERATURE
from fabrichealth.catalogue.ports import (
    FEC_UNCORRECTABLE_CODEWORDS,
    LINK_DOWNS,
    LINK_RECOVERIES,
    PORT_INFO,
    REPLAYS,
    SYMBOL_ERRORS,
    UP,
)
from fabrichealth.catalogue.power import FEED_CURRENT, FEED_POWER, RACK_POWER
from fabrichealth.catalogue.verdicts import (
    DOMAIN_IDLE,
    DRAIN_SAFE,
    EVENT_ACTIVE,
    INCIDENT_ACTIVE,
    INCIDENT_INFO,
    LINK_HEALTH,
    LINK_STATE,
    SECONDS_TO_LIMIT,
)
from fabrichealth.kinds import Severity
from fabrichealth.metric import Metric

IT = '{incident=~"$incident"}'
END = "{{device}}/{{port}}"
SEVERITIES = tuple(
    Name(int(severity), str(severity), color)
    for severity, color in zip(Severity, ("blue", "yellow", "orange", "red"), strict=True)
)


def _ends(title: str, metric: Metric, about: str, *, width: int = 8) -> Question:
    """Return what both ends of the culprit say; counters as rates."""
    said = f"rate({metric}[{RATE}])" if metric.name.endswith("_total") else str(metric)
    lane = " lane {{lane}}" if "lane" in metric.labels else ""
    priority = " priority {{priority}}" if "priority" in metric.labels else ""
    return Question(title, [Query(of_ports(said), END + lane + priority)], about, width=width)


def _whole(title: str, metric: Metric, label: str, about: str) -> Question:
    """Return what the loop, rack, feed, device or domain says that is the culprit."""
    rest = "".join(f" {{{{{name}}}}}" for name in metric.labels if name != label)
    legend = f"{{{{{label}}}}}{rest}"
    return Question(title, [Query(of(str(metric), label), legend)], about, width=8)


BOARD = Board(
    uid="fabrichealth-oncall",
    title="Fabric health / on call",
    about="One incident: what it is, how it came about, and what its culprit says of itself.",
    variables=(
        Variable("incident", "Incident", f"label_values({INCIDENT_INFO}, incident)", several=False),
    ),
    opens_on=("incident",),
    rows=(
        Row(
            "The incident",
            (
                listed(
                    "What it is; suppressed ones show their reason.", 'incident=~"$incident"', 4
                ),
                Question(
                    "What to do",
                    [],
                    "`fabrichealth explain $incident` tells the evidence in order, the victims, "
                    "what was discarded and the next step; `fabrichealth verdict $incident "
                    "true|false|ack` says what you found. The alert links to the runbook of its "
                    "kind.",
                    kind="text",
                    width=8,
                    height=6,
                ),
                Question(
                    "Severity",
                    [Query(f"max by (incident) ({INCIDENT_ACTIVE}{IT})", "{{incident}}")],
                    "Absent while suppressed and after it closed.",
                    kind="state",
                    width=8,
                    height=6,
                    names=SEVERITIES,
                ),
                Question(
                    "What was done meanwhile",
                    [Query(f"max by (kind, scope, note) ({EVENT_ACTIVE})", table=True)],
                    "Events of the last ten minutes on the whole fabric.",
                    kind="table",
                    width=8,
                    height=6,
                    hidden=("Value",),
                ),
            ),
        ),
        Row(
            "If it is a link",
            (
                Question(
                    "Health",
                    [Query(of(str(LINK_HEALTH), "link"), "{{side}}")],
                    "1 normal, 0.5 at the warning limit, 0 at the error limit; by receiving end.",
                    width=8,
                ),
                Question(
                    "State",
                    [Query(of(f"{LINK_STATE} == 1", "link"), "{{side}}: {{state}}")],
                    "One bar a state.",
                    kind="state",
                    width=8,
                ),
                Question(
                    "Days to the error limit",
                    [Query(of(f"{SECONDS_TO_LIMIT} / 86400", "link"), "{{quantile}}")],
                    "Forecast at 10, 50 and 90 %; absent where no trend is proven.",
                    unit="d",
                    width=8,
                ),
                _ends("Up", UP, "1 up, 0 down."),
                _ends("Symbol errors", SYMBOL_ERRORS, "Left after FEC and retry."),
                _ends(
                    "Uncorrectable codewords",
                    FEC_UNCORRECTABLE_CODEWORDS,
                    "What FEC could not repair.",
                ),
                Question(
                    "Falls and retrains per hour",
                    [
                        Query(of_ports(f"increase({LINK_DOWNS}[1h])"), f"{END} falls"),
                        Query(of_ports(f"increase({LINK_RECOVERIES}[1h])"), f"{END} retrains"),
                    ],
                    "Down, or trained again without going down.",
                    width=8,
                ),
                _ends("Replays", REPLAYS, "Link-level retransmissions."),
                Question(
                    "Bit errors before FEC",
                    [Query(of_ports(str(PRE_FEC_BER)), f"{END} lane {{{{lane}}}}")],
                    "As the module counts them.",
                    unit="sci",
                    logarithmic=True,
                    width=8,
                ),
                _ends("Light received", RX_POWER, "Per lane; -40 dBm is dark."),
                _ends("Module temperature", MODULE_TEMPERATURE, "Of the module's case."),
                Question(
                    "May be drained",
                    [Query(of(str(DRAIN_SAFE), "link"), table=True)],
                    "1 may be drained now, 0 not; `drain-plan` says why.",
                    kind="table",
                    width=8,
                    called="safe",
                ),
                Question(
                    "Its ends",
                    [Query(of_ports(str(PORT_INFO)), table=True)],
                    "Place, cable and peer as written and as the devices say.",
                    kind="table",
                    width=24,
                    height=5,
                    hidden=("Value",),
                ),
            ),
        ),
        Row(
            "If it is a port that stops others",
            (
                _ends("Stops its peer", PFC_TX_PAUSE, "Share of time.", width=12),
                _ends("Is stopped", PFC_RX_PAUSE, "Share of time.", width=12),
            ),
        ),
        Row(
            "If it is a loop",
            (
                _whole("Reservoir", RESERVOIR_LEVEL, "loop", "Falls as coolant is lost."),
                _whole("Flow", FLOW, "loop", "Main and branches."),
                _whole("Coolant", COOLANT_TEMPERATURE, "loop", "Supply and return."),
                _whole("Wet", LEAK, "loop", "1 while a rope is wet."),
            ),
        ),
        Row(
            "If it is a rack, a feed, a device or a domain",
            (
                _whole("Rack power", RACK_POWER, "rack", "What the rack draws."),
                _whole("Feed power", FEED_POWER, "feed", "As its meter reads it."),
                _whole("Feed current", FEED_CURRENT, "feed", "Of each phase."),
                _whole("Device answers", DEVICE_UP, "device", "1 while any target of it answers."),
                _whole("Chips", CHIP_TEMPERATURE, "device", "Of the accelerator."),
                _whole("Idle", DOMAIN_IDLE, "domain", "Share of the whole inventory that idles."),
            ),
        ),
    ),
)
