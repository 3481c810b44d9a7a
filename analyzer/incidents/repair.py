"""Repair: what to try first, by what is known of each cause and what helped here before.

The ladder joins the probabilities of the causes with the chance that an action ends a fault of
that cause, per minute of somebody's time: cheap steps that often help come first. The chances
are our estimates, worth a few repairs (`BELIEF`); every repair event that is followed by a day
without the fault, or by its return, moves them. What failed on the same culprit within a month
is not proposed again (detection reference, B5).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analyzer.incidents.scope import in_scope
from analyzer.past import Closed, Past, Repair
from fabrichealth.events import Event
from fabrichealth.kinds import Cause
from fabrichealth.model import Incident, Place, Rung
from fabrichealth.topology import Link, Topology

DAY = 86_400.0

AGAIN = 30 * DAY
"""Within this a fault that returns was not mended, and an action that failed is not repeated."""

PROVEN = DAY
"""An action worked if the fault stays away so long."""

SETTLE = 600.0
"""Errors of so long after a repair belong to the hands that made it."""

WALK = 10.0
"""Minutes to the rack and back, whatever is done there."""

BELIEF = 5.0
"""Repairs that the table's estimate is worth against those seen here."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something hands can do."""

    minutes: float
    """Of somebody's hands; estimates."""
    does: str
    """For a person; `{end}` is the port at which it is done."""
    optical: bool = True
    copper: bool = True


ACTIONS = {
    "reseat": Action(5, "reseat the module at {end}", copper=False),
    "replug": Action(5, "unplug and replug the cable at both ends", optical=False),
    "clean": Action(10, "clean the connector at {end}", copper=False),
    "cool": Action(15, "check fans, filters and blanking plates around {end}"),
    "replace_module": Action(20, "swap the module at {end}", copper=False),
    "replace_cable": Action(30, "swap the cable between both ends"),
    "replace_port": Action(90, "move to another port at {end}, then swap its card"),
    "replace_shared": Action(180, "swap the trunk, card or panel that the ill links share"),
}
"""By the words of repair events; another word counts as what it begins with."""

_C = Cause
HELPS: dict[Cause, Mapping[str, float]] = {
    _C.CONTAMINATED_CONNECTOR: {"clean": 0.85, "reseat": 0.2, "replace_cable": 0.6},
    _C.DAMAGED_FIBER: {"replace_cable": 0.9, "reseat": 0.05},
    _C.DECAYING_TRANSMITTER: {"replace_module": 0.95, "reseat": 0.03},
    _C.DEGRADED_RECEIVER: {"replace_module": 0.9, "clean": 0.1, "reseat": 0.05},
    _C.LOOSE_OR_BAD_MODULE: {"reseat": 0.5, "replace_module": 0.9},
    _C.MODULE_OVERHEATING: {"cool": 0.7, "replace_module": 0.25},
    _C.HOST_ELECTRICAL: {"reseat": 0.3, "replug": 0.3, "replace_port": 0.8},
    _C.COPPER_CABLE: {"replug": 0.35, "replace_cable": 0.9},
    _C.SHARED_COMPONENT: {"replace_shared": 0.9},
    _C.BAD_BATCH: {"replace_module": 0.9, "reseat": 0.1},
    _C.COOLING: {"cool": 0.6},
}
"""Chance that an action ends a fault of a cause; what is not named does not help. Our estimates,
of the order that repair by symptoms is reported to reach (80 % on the first visit, CorrOpt)."""

UNKNOWN = {"reseat": 0.3, "replug": 0.3, "clean": 0.25, "replace_module": 0.35,
           "replace_cable": 0.35}  # fmt: skip
"""Where the cause is unknown, or none that hands can mend."""


def named(action: str) -> str | None:
    """Return the action of the table that an event's word means."""
    word = action.strip().lower().replace(" ", "_").replace("-", "_")
    if word in {"replace", "insert"}:
        return "replace_module"
    if word in {"replace_fiber", "replace_fibre"}:
        return "replace_cable"
    return word if word in ACTIONS else None


def note(past: Past, events: Iterable[Event], incidents: Sequence[Incident],
         topology: Topology) -> None:  # fmt: skip
    """Remember what was done to what is or was ill; each repair once."""
    known = {(one.at, one.culprit) for one in past.repairs}
    for event in events:
        if event.kind not in {"repair_end", "part_replaced", "part_touched"}:
            continue
        action = named(str(event.more.get("action", "replace")))
        if action is None:
            continue
        for culprit, cause in _ill(event, incidents, past.closed, topology):
            if (event.at, culprit) not in known:
                past.repairs.append(Repair(event.at, action, culprit, cause))
                known.add((event.at, culprit))


def _ill(
    event: Event, incidents: Sequence[Incident], closed: Sequence[Closed], topology: Topology
) -> Iterable[tuple[str, str]]:
    """Yield (link, cause) of what lay in an event's scope and was ill then."""
    for one in incidents:
        if one.kind.causes and one.opened_at <= event.at and _scoped(one.culprit.id, event,
                                                                     topology):  # fmt: skip
            yield one.culprit.id, one.cause.value if one.cause else ""
    for past in closed:
        if (
            past.cause
            and past.opened_at <= event.at <= past.closed_at + DAY
            and _scoped(past.culprit, event, topology)
        ):
            yield past.culprit, past.cause


def _scoped(link: str, event: Event, topology: Topology) -> bool:
    return in_scope(Place("link", link), event.scope, topology)


def ladder(incident: Incident, past: Past, topology: Topology, now: float) -> list[Rung]:
    """Return what to try, the most promising per minute first; nothing where hands do not help."""
    if not incident.kind.causes:
        return []
    link = topology.links.get(incident.culprit.id)
    failed = {
        one.action
        for one in past.repairs
        if one.culprit == incident.culprit.id and one.failed_at is not None and one.at > now - AGAIN
    }
    tried, worked = outcomes(past, incident.cause, now)
    rungs = []
    for name, action in ACTIONS.items():
        chance = _chance(name, incident.causes)
        if chance < 0.02 or name in failed or not _fits(action, link):
            continue
        success = (BELIEF * chance + worked[name]) / (BELIEF + tried[name])
        does = action.does.format(end=_end(name, incident, link))
        rungs.append(Rung(name, does, round(success, 3), tried[name], worked[name]))
    return sorted(rungs, key=lambda rung: -rung.success / (WALK + ACTIONS[rung.action].minutes))


def outcomes(past: Past, cause: Cause | None, now: float) -> tuple[Counter[str], Counter[str]]:
    """Return how often each action was tried for a cause, and how often it worked."""
    tried: Counter[str] = Counter()
    worked: Counter[str] = Counter()
    for one in past.repairs:
        if one.cause != (cause.value if cause else ""):
            continue
        if one.failed_at is not None:
            tried[one.action] += 1
        elif now - one.at >= PROVEN:
            tried[one.action] += 1
            worked[one.action] += 1
    return tried, worked


def _chance(action: str, causes: Mapping[Cause, float]) -> float:
    """Return the chance that an action helps, over the causes as probable as they are."""
    if not causes:
        return UNKNOWN.get(action, 0.0)
    return sum(
        share * HELPS.get(cause, UNKNOWN if cause is Cause.UNKNOWN else {}).get(action, 0.0)
        for cause, share in causes.items()
    )


def _fits(action: Action, link: Link | None) -> bool:
    medium = link.medium if link else ""
    if not medium:
        return True
    return action.copper if medium in {"dac", "acc", "backplane"} else action.optical


def _end(action: str, incident: Incident, link: Link | None) -> str:
    """Return at which end an action is done; both where nothing tells."""
    if incident.side:
        return incident.side
    return f"both ends, {link.a} first" if link else "both ends"


def modules_of(culprit: Place, topology: Topology) -> list[str]:
    """Return the serials of a link's modules, as far as they are known."""
    link = topology.links.get(culprit.id)
    ends = (link.module_a, link.module_b) if link else ()
    return [module.serial for module in ends if module and module.serial]


def sentence(rungs: Sequence[Rung], usual: str) -> str:
    """Return the incident's action in one sentence: the first step, and the next if it fails."""
    if not rungs:
        return usual
    first = rungs[0].does[0].upper() + rungs[0].does[1:]
    if len(rungs) == 1:
        return f"{first}."
    end = rungs[0].does.partition(" at ")[2]
    following = rungs[1].does.replace(f"at {end}", "there") if end else rungs[1].does
    return f"{first}; if it stays ill, {following}."


def settled(past: Past, incident: Incident) -> None:
    """Note that repairs of an incident's culprit failed, where it was seen ill after them."""
    past.failed(incident.culprit, incident.last_seen, SETTLE, AGAIN)
