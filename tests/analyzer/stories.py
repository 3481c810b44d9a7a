"""Stories: what detectors would say over time, told to a real judge."""

from collections.abc import Callable, Iterator, Sequence

from analyzer.detector import Detector, DetectorSettings
from analyzer.incidents.lifecycle import Policy
from analyzer.judge import Judge, Outcome
from analyzer.ledger import Ledger
from fabrichealth.catalogue.ports import UP
from fabrichealth.events import Event
from fabrichealth.kinds import IncidentKind, Severity
from fabrichealth.model import Evidence, Finding, Incident, Place, Port, View
from fabrichealth.topology import Device, Domain, Feed, Link, Loop, Rack, Topology
from tests.reference_store import ReferenceStore

START = 1_800_000_000.0
MINUTE, HOUR = 60.0, 3600.0
LINK = "host-0/eth0--leaf-0/0"


def site() -> Topology:
    """Return two hosts in racks r1 and r2, a leaf in neither, a loop and a feed."""
    return Topology(
        [
            Device(name="leaf-0", role="switch"),
            Device(name="host-0", role="host", rack="r1", domain="pod-a"),
            Device(name="host-1", role="host", rack="r2", domain="pod-b"),
            Device(name="host-0-0", role="accelerator", host="host-0"),
        ],
        [
            Link(a="leaf-0/0", b="host-0/eth0", technology="ib"),
            Link(a="leaf-0/1", b="host-1/eth0", technology="ib"),
        ],
        [Domain(name="pod-a"), Domain(name="pod-b")],
        [Rack(name="r1", domain="pod-a"), Rack(name="r2", domain="pod-b")],
        [Loop(name="cdu-1", racks=("r1",))],
        [Feed(name="r1-A", rack="r1")],
    )


def finding(
    kind: IncidentKind,
    about: Port | Place,
    since: float,
    at: float,
    severity: Severity | None = None,
) -> Finding:
    """Return a finding; times are seconds after the start."""
    line = Evidence(UP, {"device": "?", "port": "?"}, 0.0, 1.0, "", START + at, "seen")
    words = f"{kind} of {about}"
    return Finding(kind, about, 1.5, START + since, START + at, [line], words, severity=severity)


Script = Callable[[float], Sequence[Finding]]


class Scripted(Detector[DetectorSettings]):
    """Says what a script gives for the seconds since the start."""

    kinds = ()
    metrics = (UP,)

    def __init__(self, script: Script) -> None:
        super().__init__(DetectorSettings())
        self.script = script

    def judge(self, view: View) -> Iterator[Finding]:
        yield from self.script(view.now - START)


class Story:
    """A judge that is told a script, minute by minute."""

    def __init__(
        self,
        script: Script,
        events: Sequence[Event] = (),
        policy: Policy | None = None,
        topology: Topology | None = None,
    ) -> None:
        self._site = topology or site()
        self.ledger = Ledger()
        self.outcomes: list[Outcome] = []
        self.closed: list[Incident] = []
        self._script, self._policy = Scripted(script), policy
        self._events = list(events)
        self.restart()
        self.minute = 0

    def restart(self, ledger: Ledger | None = None) -> None:
        """Begin judging again, with what the ledger holds and the events of the journal."""
        self.ledger = ledger or self.ledger
        every = {"script": self._script}
        self.judge = Judge(ReferenceStore(), self._site, every, self.ledger, self._policy)
        self.judge.tell(self._events)

    def until(self, seconds: float) -> "Story":
        """Go on to so many seconds after the start."""
        while self.minute * MINUTE < seconds:
            self.minute += 1
            outcome = self.judge.judge(START + self.minute * MINUTE)
            self.outcomes.append(outcome)
            self.closed += outcome.closed
        return self

    @property
    def all(self) -> list[Incident]:
        """Closed and open incidents."""
        return [*self.closed, *self.ledger.incidents]

    @property
    def only(self) -> Incident:
        """The one incident that there is."""
        (incident,) = self.all
        return incident


def during(
    kind: IncidentKind,
    about: Port | Place,
    *spans: tuple[float, float],
    severity: Severity | None = None,
) -> Script:
    """Return a script that says so within each (from, until)."""

    def script(elapsed: float) -> list[Finding]:
        return [
            finding(kind, about, start, elapsed, severity)
            for start, end in spans
            if start <= elapsed < end
        ]

    return script


def event(kind: str, at: float, scope: dict[str, str], name: str = "", **more: object) -> Event:
    """Return an event so many seconds after the start."""
    return Event(START + at, kind, scope, name, more=more)
