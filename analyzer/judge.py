"""Judge: one pass over the store, from windows to incidents and verdict series.

Pure but for the store it reads: time is an argument, what survives lies in the ledger. Live and
replayed judging are the same calls.
"""

import logging
import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from analyzer.detector import AnyDetector, Detector
from analyzer.discovered import Discovered
from analyzer.evidence.clocks import told_apart
from analyzer.evidence.ends import PortStates
from analyzer.evidence.parts.cages import Cages
from analyzer.incidents.capacity import live
from analyzer.incidents.claims import Claim, claims
from analyzer.incidents.crossing import HEARD, crossed, uncrossed
from analyzer.incidents.explaining import explained
from analyzer.incidents.lifecycle import Policy, advance
from analyzer.incidents.one_part import by_part
from analyzer.incidents.quality import quality
from analyzer.incidents.renaming import Names, follow, found_now, renames, topology_now
from analyzer.incidents.restarts import darkness, restarts
from analyzer.interconnects import REMEMBERED, Interconnects
from analyzer.jurisdiction import Jurisdiction
from analyzer.lasting import lasting
from analyzer.ledger import Ledger, copy_of
from analyzer.verdicts import Verdict, accepted, budget, happened, verdicts
from analyzer.viewing import Viewing
from fabrichealth.catalogue.devices import BOOT_TIME
from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.catalogue.ports import ADMIN_UP, NEIGHBOR_INFO, UP
from fabrichealth.catalogue.watchers import ANALYSIS_FAILING, ANALYSIS_TIME
from fabrichealth.errors import StoreError
from fabrichealth.events import Event
from fabrichealth.kinds import FABRIC_HOT_LINK
from fabrichealth.model import Finding, Incident
from fabrichealth.plugins import classes
from fabrichealth.settings import Settings
from fabrichealth.store.protocol import Store
from fabrichealth.topology import Topology

log = logging.getLogger(__name__)

BOOTS_REMEMBERED = 7200.0
STATES_REMEMBERED = 7200.0
ALSO_REMEMBERED = {
    **REMEMBERED, BOOT_TIME: BOOTS_REMEMBERED, UP: STATES_REMEMBERED,
    ADMIN_UP: STATES_REMEMBERED, OPTICS_INFO: STATES_REMEMBERED, NEIGHBOR_INFO: HEARD,
}  # fmt: skip
EVENTS_REMEMBERED = 30 * 86_400.0


@dataclass
class Outcome:
    """What one pass found."""

    at: float
    findings: list[Finding] = field(default_factory=list)
    changed: list[Incident] = field(default_factory=list)
    closed: list[Incident] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)


def detectors(settings: Mapping[str, Settings] | None = None) -> dict[str, AnyDetector]:
    """Return every detector in the folder, by file name, with its settings or defaults."""
    given = settings or {}
    return {
        name: kind(given.get(name, kind.settings_type()))
        for name, kind in classes("analyzer.detectors", Detector).items()
    }


class Judge:
    """Runs the detectors and keeps the incidents."""

    def __init__(
        self,
        store: Store,
        topology: Topology,
        every: Mapping[str, AnyDetector],
        ledger: Ledger,
        policy: Policy | None = None,
        *,
        tells_series: bool = True,
        ours: Jurisdiction | None = None,
    ) -> None:
        """`tells_series` asks for verdict series; a replay needs none.

        `ours` is what is told here, where several judge a site; everything if it is not given.
        """
        self._ours = ours or Jurisdiction(topology)
        self._told = {one.incident for one in ledger.incidents if self._ours.holds(one)}
        """Incidents that are told here."""
        self._store = store
        self._discovered = Discovered(store, topology)
        self._base = self.topology = topology
        """Written and discovered; and the same under the ports' present names."""
        self._moments: list[tuple[float, Names]] = []
        self._detectors = every
        self.ledger = ledger
        self._policy = policy or Policy()
        self._viewing = Viewing(store, every, ALSO_REMEMBERED)
        self._tells_series = tells_series
        self._interconnects = Interconnects(self._viewing, self._policy.capacity_floor)
        self._events: list[Event] = []
        self._forgotten = -1
        """How many of the oldest are forgotten, but for those that hold."""
        self._lasting: list[Event] = []
        self._due: dict[str, float] = {}
        """When a detector judges next, of those that do not at every pass."""
        self._judged: dict[str, float] = {}
        self._said: dict[str, list[Verdict]] = {}
        """Verdict series of detectors, as of their last judging."""
        self._accepted: dict[str, float] = {}
        self._accepted_of: Topology | None = None
        """Pages a week that are accepted, by domain, and of which topology that is."""
        self._failing: set[str] = set()
        """Detectors that failed when they judged last."""
        self._cost: dict[str, tuple[float, float]] = {}
        """What each detector's last judging took (seconds), and its coverage."""

    def tell(self, events: Sequence[Event]) -> None:
        """Add events that became known; they count from their `at` on."""
        self._events.extend(events)
        self._events.sort(key=lambda event: event.at)
        self._forgotten = -1

    def judge(self, now: float) -> Outcome:
        """Run one pass at `now` (unix seconds)."""
        self._store.refresh()
        apart = told_apart(self.ledger.before)
        self._viewing.put_right(apart, self.topology, now)
        self._viewing.advance(now)
        known = self._known(now)
        moved = self._follow(known, now)
        found: list[Finding] = []
        for name, detector in self._detectors.items():
            if now >= self._due.get(name, now):
                self._due[name] = now + detector.settings.every
                self._judged[name] = now
                self._run(name, detector, known)
            found.extend(held(self.ledger.before[name], now - self._judged[name]))
        boots = restarts(self._viewing.changes(BOOT_TIME, BOOTS_REMEMBERED), apart)
        boots += darkness(self.ledger.incidents, self.topology)
        events = sorted([*known, *boots], key=lambda event: event.at)
        states = PortStates(*(self._viewing.changes(m, STATES_REMEMBERED) for m in (UP, ADMIN_UP)))
        standing = self._standing(found, states)
        step = advance(
            self.ledger, standing, now, self.topology, events, self._policy, self._ours.prefix
        )
        step.changed.extend(one for one in moved if one not in step.changed)
        if step.changed:
            for incident in step.changed:
                incident.data_quality = quality(incident, states, self.topology)
        changed, closed = self._of_ours(step.changed, step.closed)
        series = self._series(now, events) if self._tells_series else []
        return Outcome(now, found, changed, closed, series)

    def _standing(self, found: Sequence[Finding], states: PortStates) -> list[Claim]:
        """Return the suspected causes: of true cables, explained, those of one part joined."""
        heard = self._viewing.changes(NEIGHBOR_INFO, HEARD)
        cables = crossed(heard, self.topology, self.ledger.incidents)
        told = uncrossed(found, cables, states, self.topology)
        modules = self._viewing.changes(OPTICS_INFO, STATES_REMEMBERED)
        standing = explained(claims(told, self.topology), self.topology)
        cages = Cages(self.topology, modules)
        return by_part(standing, self.topology, cages, states, states.up.until)

    def _series(self, now: float, events: Sequence[Event]) -> list[Verdict]:
        """Return the verdict series that are told here, after the incidents of this pass."""
        told = frozenset(one.incident for one in self.ledger.incidents if self._ours.holds(one))
        said = [
            *verdicts(self.ledger, self._cost, self.topology),
            *self._own(now),
            *(one for said in self._said.values() for one in said),
            *happened(events, now),
            *self._of_links(now, events),
        ]
        return [one for one in said if self._ours.tells(one, told)]

    @property
    def open(self) -> list[Incident]:
        """Incidents that are open and told here."""
        return [one for one in self.ledger.incidents if self._ours.holds(one)]

    def _of_ours(
        self, changed: Sequence[Incident], closed: Sequence[Incident]
    ) -> tuple[list[Incident], list[Incident]]:
        """Return what is to be told of incidents that changed and closed.

        One whose culprit turns out to lie elsewhere is over here: who has that tells it.
        """
        open_now, over = [], [copy_of(one) for one in closed if self._ours.holds(one)]
        for incident in changed:
            if self._ours.holds(incident):
                open_now.append(copy_of(incident))
                self._told.add(incident.incident)
            elif incident.incident in self._told:
                over.append(replace(copy_of(incident), closed_at=incident.last_seen))
                self._told.discard(incident.incident)
        self._told -= {one.incident for one in closed}
        return open_now, over

    def _own(self, now: float) -> list[Verdict]:
        """Return what is told of judging itself, and of how often people are called."""
        if self._accepted_of is not self.topology:
            self._accepted_of = self.topology
            self._accepted = accepted(self.topology, self._policy.pages_accepted)
        return [
            *budget(self.ledger.paged, self._accepted),
            Verdict(ANALYSIS_TIME, (self._ours.name,), now),
            *(Verdict(ANALYSIS_FAILING, (name,), float(name in self._failing))
              for name in self._judged),
        ]  # fmt: skip

    def _of_links(self, now: float, events: Sequence[Event]) -> list[Verdict]:
        """Return what is told of the links of domains, after the incidents of this pass."""
        if not self.topology.domains:
            return []
        if not self._interconnects.due(now):
            return self._interconnects.said
        incidents = self.ledger.incidents
        lost = live(self.topology, incidents, events).lost
        hot = {one.culprit.id for one in incidents if one.kind is FABRIC_HOT_LINK}
        return self._interconnects.verdicts(now, self.topology, lost, hot)

    def _known(self, now: float) -> list[Event]:
        """Return the events that count at a moment: those of a month, and older ones that hold."""
        first, last = (
            bisect_right(self._events, moment, key=lambda event: event.at)
            for moment in (now - EVENTS_REMEMBERED, now)
        )
        if first != self._forgotten:
            self._forgotten, self._lasting = first, lasting(self._events[:first])
        return [*self._lasting, *self._events[first:last]]

    def _run(self, name: str, detector: AnyDetector, events: Sequence[Event]) -> None:
        """Let one detector judge, and keep what it says until it judges again."""
        began = time.perf_counter()
        before = self.ledger.before.get(name, ())
        view = self._viewing.view(detector, self.topology, events, before)
        kept = self.ledger.kept.setdefault(name, {})
        coverage = 0.0
        if not (before or self._tells_series or self._viewing.reads(detector)):
            self.ledger.before[name] = []  # nothing is told of it, and it sees nothing
            return
        try:
            self.ledger.before[name] = found_now(detector.judge(view), before, self._moments)
            if self._tells_series:
                self._said[name] = list(detector.verdicts(view, kept))
                coverage = detector.coverage(view)
            self._failing.discard(name)
        except StoreError:
            raise
        except Exception:  # what one reading does to one detector silences no other
            if name not in self._failing:
                log.exception("detector %s fails; until it does not, it says what it said", name)
            self._failing.add(name)
            self.ledger.before.setdefault(name, [])
        self._cost[name] = (time.perf_counter() - began, coverage)

    def _follow(self, events: Sequence[Event], now: float) -> list[Incident]:
        """Take note of new links and of ports renamed; return incidents whose names changed."""
        base = self._discovered.topology(now)
        moments = renames(events)
        if moments != self._moments or base is not self._base:
            self._base, self._moments = base, moments
            self.topology = topology_now(base, moments)
        return follow(self.ledger, moments)


def held(said: Sequence[Finding], seconds: float) -> Sequence[Finding]:
    """Return what a detector said so many seconds ago, as holding until it is asked again.

    Else one that judges more seldom than an incident is held down would close it in between.
    """
    if not seconds:
        return said
    return [replace(one, at=one.at + seconds) for one in said]
