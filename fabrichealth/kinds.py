"""Kinds of incident, one row each.

Contract tables, rules, boards and the scorer derive from these rows: type of culprit, the least
severity, gravity (which of two joined findings names the incident) and hold-down.
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Severity(IntEnum):
    """Severity as the number that the verdict metrics carry."""

    INFO = 1
    WATCH = 2
    TICKET = 3
    PAGE = 4

    def __str__(self) -> str:
        return self.name.lower()


class Cause(StrEnum):
    """Causes of a link's trouble."""

    CONTAMINATED_CONNECTOR = "contaminated_connector"
    DAMAGED_FIBER = "damaged_fiber"
    DECAYING_TRANSMITTER = "decaying_transmitter"
    DEGRADED_RECEIVER = "degraded_receiver"
    LOOSE_OR_BAD_MODULE = "loose_or_bad_module"
    MODULE_OVERHEATING = "module_overheating"
    HOST_ELECTRICAL = "host_electrical"
    COPPER_CABLE = "copper_cable"
    SHARED_COMPONENT = "shared_component"
    BAD_BATCH = "bad_batch"
    PEER_REBOOTED = "peer_rebooted"
    MAINTENANCE = "maintenance"
    COOLING = "cooling"
    POWER = "power"
    CONGESTION = "congestion"
    UNKNOWN = "unknown"


LINK_CAUSES = tuple(Cause)

MINUTE, HOUR = 60.0, 3600.0


@dataclass(frozen=True, slots=True)
class IncidentKind:
    """One kind of incident."""

    name: str
    culprit: str
    """Type of the culprit: device port link rack loop branch feed domain lot source .."""
    severity: Severity
    """The least severity it has; a joined finding can raise it."""
    gravity: int
    """Of findings joined in one incident the one of highest gravity names it."""
    means: str
    action: str
    """What to do, for a person at night; the incident's own facts are put in front of it."""
    causes: tuple[Cause, ...] = ()
    hold_down: float = 30 * MINUTE
    """Seconds that the cause must stay absent before the incident closes."""
    never_suppressed: bool = False
    statistical: bool = False
    """It rests on comparison or trend, not on a state or proven limit: it pages with restraint.
    Shared parts are as grave as their links, whose limits are proven."""

    def __str__(self) -> str:
        return self.name


def _kind(
    name: str,
    culprit: str,
    severity: Severity,
    gravity: int,
    means: str,
    action: str,
    hold_down: float = 30 * MINUTE,
    never_suppressed: bool = False,
    statistical: bool = False,
) -> IncidentKind:
    causes = LINK_CAUSES if name.startswith(("link.", "optics.")) else ()
    return IncidentKind(
        name,
        culprit,
        severity,
        gravity,
        means,
        action,
        causes,
        hold_down,
        never_suppressed,
        statistical,
    )


_PAGE, _TICKET, _WATCH, _INFO = Severity.PAGE, Severity.TICKET, Severity.WATCH, Severity.INFO

DEVICE_DOWN = _kind(
    "device.down",
    "device",
    _PAGE,
    100,
    "A device is dark: every cabled port of it is down as its peers see it.",
    "Check its power and console; everything behind it is a victim, leave those alone.",
)
LINK_DOWN = _kind(
    "link.down",
    "link",
    _PAGE,
    90,
    "A cabled link that was up has been down for two polls, and nobody disabled it.",
    "Look for light or a loose plug at both ends, reseat, then swap module or cable.",
)
LINK_FLAPPING = _kind(
    "link.flapping",
    "link",
    _PAGE,
    80,
    "A link goes down and comes back again and again; each time the jobs on it stall.",
    "Drain the link if that is safe, reseat and clean both ends, then swap the module.",
    hold_down=24 * HOUR,
)
LINK_SUBHEALTHY = _kind(
    "link.subhealthy",
    "link",
    _TICKET,
    70,
    "A link is up but loses or repeats data beyond what its technology allows.",
    "Clean and reseat at the receiving end; swap the part that stays ill.",
)
LINK_DEGRADED_SPEED = _kind(
    "link.degraded_speed",
    "link",
    _TICKET,
    60,
    "A link runs slower or narrower than it was built for, or than its peers do.",
    "Reseat the module; if the width does not come back swap the cable or the module.",
)
LINK_WILL_FAIL = _kind(
    "link.will_fail",
    "link",
    _TICKET,
    50,
    "A link's margin shrinks and reaches its error limit within days.",
    "Plan the repair before the forecast date, in a maintenance window.",
    statistical=True,
)
OPTICS_DEGRADING = _kind(
    "optics.degrading",
    "link",
    _TICKET,
    10,
    "A module's light, bias or temperature is ill; the link itself is not, yet.",
    "Clean the connector; swap the module that the side names if it does not recover.",
    statistical=True,
)
OPTICS_OVERHEATING = _kind(
    "optics.overheating",
    "link",
    _TICKET,
    11,
    "A module is hotter than its own limit or than its siblings.",
    "Check air flow and neighbours first, then the module.",
)
ACCELERATOR_ERRORS = _kind(
    "accelerator.errors",
    "device",
    _WATCH,
    40,
    "An accelerator reports errors of its own.",
    "Fatal codes: drain the host and run the vendor's diagnosis; others: watch.",
)
PARTS_BAD_BATCH = _kind(
    "parts.bad_batch",
    "lot",
    _TICKET,
    91,  # it names an incident before any of its links
    "Modules of one lot fail far more often than others.",
    "Quarantine the lot in stores; replace those in use by plan.",
)
PARTS_SHARED_COMPONENT = _kind(
    "parts.shared_component",
    "bundle",
    _TICKET,
    93,  # it names an incident before any of its links
    "Several ill links share one module, trunk, card or device.",
    "Repair the shared part, not the links.",
)
PARTS_VERSION_DRIFT = _kind(
    "parts.version_drift",
    "device",
    _TICKET,
    92,  # it names an incident before what is ill for it
    "Those that are ill share a firmware or driver that the healthy of their role do not have.",
    "Bring the devices named to the firmware of the healthy majority.",
)
HOST_IRQ_MISPLACED = _kind(
    "host.irq_misplaced",
    "device",
    _TICKET,
    5,
    "A port's interrupts are served on another NUMA node.",
    "Pin the port's interrupts to its own NUMA node.",
)
PFC_STORM = _kind(
    "pfc.storm",
    "port",
    _PAGE,
    85,
    "A port pauses its peer nearly all the time.",
    "Isolate the pausing port; check its host's receive path.",
)
PFC_DEADLOCK = _kind(
    "pfc.deadlock",
    "port",
    _PAGE,
    95,
    "Paused queues wait for each other in a circle.",
    "Clear the queue named; then mend the route that closed the circle.",
)
PFC_SLOW_RECEIVER = _kind(
    "pfc.slow_receiver",
    "port",
    _TICKET,
    55,
    "A host takes data slower than it arrives and pauses its switch.",
    "Check the host's PCIe width, memory bandwidth and interrupt placement.",
)
PFC_INCAST = _kind(
    "pfc.incast",
    "port",
    _WATCH,
    15,
    "Many senders meet at one port.",
    "Nothing urgent; spread the senders if it lasts.",
)
PFC_ECN_MISCONFIGURED = _kind(
    "pfc.ecn_misconfigured",
    "device",
    _TICKET,
    45,
    "Pauses without marks: ECN is off, mapped wrongly or set too high.",
    "Set the marking thresholds as the evidence says.",
)
PFC_HEADROOM_SHORT = _kind(
    "pfc.headroom_short",
    "port",
    _TICKET,
    46,
    "A lossless priority drops at its ingress: headroom is too small.",
    "Raise the headroom to cable length and rate.",
)
FABRIC_HOT_LINK = _kind(
    "fabric.hot_link",
    "link",
    _WATCH,
    14,
    "One link carries far more than its siblings.",
    "See what flows cross it; rebalance if it lasts.",
    statistical=True,
)
FABRIC_ECMP_POLARIZED = _kind(
    "fabric.ecmp_polarized",
    "device",
    _TICKET,
    30,
    "A switch hashes onto a part of its uplinks only.",
    "Give each tier its own hash seed.",
    statistical=True,
)
DOMAIN_HIDDEN_IDLE = _kind(
    "domain.hidden_idle",
    "domain",
    _TICKET,
    25,
    "The average hides accelerators that stand idle.",
    "See who holds the idle accelerators; `explain DOMAIN` tells what else takes its time.",
    statistical=True,
)
DOMAIN_STRAGGLER = _kind(
    "domain.straggler",
    "device",
    _TICKET,
    4,  # found by comparison: what else is known of the same machine names it
    "One accelerator, host or rail holds back the others of its job.",
    "Examine the machine named for heat, clocks and links; drain it if that is safe.",
    statistical=True,
)
DOMAIN_FRAGMENTED = _kind(
    "domain.fragmented",
    "domain",
    _INFO,
    1,
    "Accelerators are free but jobs of the size asked for do not fit.",
    "Move the jobs that are named, to free a block; where none are, wait until one ends.",
)
COOLING_LEAK = _kind(
    "cooling.leak",
    "loop",
    _PAGE,
    99,
    "Coolant leaves the loop.",
    "Go there now: isolate the branch, power down what is under it.",
    never_suppressed=True,
)
COOLING_CLOGGED = _kind(
    "cooling.clogged",
    "branch",
    _TICKET,
    62,
    "A branch's resistance rises: cold plates or hoses clog.",
    "Flush or swap the cold plate of the branch.",
    statistical=True,
)
COOLING_FILTER_CLOGGED = _kind(
    "cooling.filter_clogged",
    "loop",
    _TICKET,
    61,
    "The CDU's filter clogs.",
    "Clean or swap the filter.",
    statistical=True,
)
COOLING_PUMP_WEAR = _kind(
    "cooling.pump_wear",
    "loop",
    _TICKET,
    63,
    "A pump gives less head at the same speed than it did, or does not turn at all.",
    "Switch to the spare pump and overhaul.",
)  # wear is a ticket whatever it rests on; what pages is that nothing turns, which is a state
COOLING_FLOW_IMBALANCE = _kind(
    "cooling.flow_imbalance",
    "branch",
    _TICKET,
    31,
    "Branches of one loop get unequal flow.",
    "Balance the valves.",
    statistical=True,
)
COOLING_EXCHANGER_FOULED = _kind(
    "cooling.exchanger_fouled",
    "loop",
    _TICKET,
    64,
    "The heat exchanger's approach temperature rises.",
    "Clean the exchanger's facility side.",
    statistical=True,
)
COOLING_THERMAL_CONTACT = _kind(
    "cooling.thermal_contact",
    "device",
    _TICKET,
    32,
    "One chip is hot while its coolant is not: contact to its cold plate.",
    "Renew the thermal interface of the chip named.",
    statistical=True,
)
COOLING_CONDENSATION_RISK = _kind(
    "cooling.condensation_risk",
    "loop",
    _TICKET,
    33,
    "Supply is close to the dew point.",
    "Raise the supply temperature or dry the air.",
)
COOLING_SENSOR_DRIFT = _kind(
    "cooling.sensor_drift",
    "loop",
    _TICKET,
    12,
    "A sensor contradicts the heat balance.",
    "Calibrate the sensor named.",
    statistical=True,
)
COOLING_SUPPLY_HOT = _kind(
    "cooling.supply_hot",
    "loop",
    _TICKET,
    65,
    "Coolant arrives too warm.",
    "Check the facility's supply and the exchanger.",
)
POWER_OVERLOAD = _kind(
    "power.overload",
    "feed",
    _PAGE,
    92,
    "A feed carries more than its breaker may for long.",
    "Shed load on the feed before it trips.",
    never_suppressed=True,
)
POWER_PHASE_IMBALANCE = _kind(
    "power.phase_imbalance",
    "feed",
    _TICKET,
    21,
    "A feed's phases carry unequal current.",
    "Check fuse and contacts of a phase that carries nothing; else move supplies between phases.",
    statistical=True,
)
POWER_FEED_LOST = _kind(
    "power.feed_lost",
    "feed",
    _PAGE,
    96,
    "A feed is dead; its partner carries everything.",
    "Check the breaker; do not touch the other feed.",
    never_suppressed=True,
)
POWER_SUPPLY_FAILED = _kind(
    "power.supply_failed",
    "rack",
    _TICKET,
    22,
    "A power supply failed.",
    "Swap the unit named.",
)
POWER_CAPPED = _kind(
    "power.capped",
    "rack",
    _TICKET,
    23,
    "A rack runs into its power cap and its clocks fall.",
    "Raise the cap or move load.",
)
POWER_METER_DRIFT = _kind(
    "power.meter_drift",
    "feed",
    _TICKET,
    9,
    "A meter contradicts the sum of what it feeds.",
    "Calibrate or swap the meter.",
    statistical=True,
)
WATCH_SOURCE_SILENT = _kind(
    "watch.source_silent",
    "source",
    _TICKET,
    3,
    "A target that we read does not answer: what it watched is not watched.",
    "Check the agent and the path to it; until it answers nothing is known of its subject.",
)
WATCH_DATA_IMPLAUSIBLE = _kind(
    "watch.data_implausible",
    "device",
    _WATCH,
    2,
    "Readings contradict physics or each other.",
    "Distrust the reading named; check sensor, mapping and cabling.",
)

KINDS: dict[str, IncidentKind] = {
    row.name: row for row in tuple(globals().values()) if isinstance(row, IncidentKind)
}
