"""What befalls a domain, at three strengths, and what an attentive person would say of it."""

from dataclasses import dataclass

from fabrichealth.kinds import DOMAIN_HIDDEN_IDLE, DOMAIN_STRAGGLER, IncidentKind

MINUTE = 60.0
HOUR = 3600.0


@dataclass(frozen=True)
class Fault:
    """A fault: how far at each strength."""

    name: str
    kind: IncidentKind
    strengths: tuple[float, float, float]
    words: tuple[str, str, str]
    """What the strengths are, for the table."""
    names: str = ""
    """How the illusion is called that it makes, where it makes one."""
    healthy: float = 12 * MINUTE
    """Seconds for which all is well first."""
    ill: float = 20 * MINUTE
    period: float = 10.0


def _idle(name: str, illusion: str, strengths: tuple[float, float, float], words: str,
          **more: float) -> Fault:  # fmt: skip
    said = tuple(f"{share:.0%} {words}" for share in strengths)
    return Fault(name, DOMAIN_HIDDEN_IDLE, strengths, (said[0], said[1], said[2]), illusion, **more)


def _slow(name: str, strengths: tuple[float, float, float], words: str) -> Fault:
    said = tuple(f"{share:.0%} {words}" for share in strengths)
    return Fault(name, DOMAIN_STRAGGLER, strengths, (said[0], said[1], said[2]))


FAULTS = (
    _idle("silent", "denominator", (0.25, 0.35, 0.5), "of the hosts say nothing"),
    _idle("unallocated", "allocation", (0.25, 0.3, 0.4), "of the hosts are held by no job",
          healthy=0.0),
    _idle("spinning", "spinning counters", (0.25, 0.3, 0.4), "spin in a collective"),
    _idle("flashing", "sampling", (0.25, 0.3, 0.4), "work for a moment every two minutes"),
    _idle("stopped", "time averaging", (0.45, 0.5, 0.55), "stopped after hours",
          healthy=5 * HOUR, ill=90 * MINUTE, period=60.0),
    _idle("idle_job", "averaging", (0.22, 0.27, 0.32), "are held by a job that does nothing"),
    _slow("clock", (0.08, 0.15, 0.3), "lower clock of one accelerator"),
    _slow("stalls", (0.08, 0.15, 0.3), "of each step one is held up by its host"),
    _slow("work", (0.1, 0.2, 0.4), "more to compute for one than for others"),
    _slow("host_clock", (0.08, 0.15, 0.3), "lower clocks on one host"),
    _slow("link", (0.75, 0.5, 0.25), "of its speed is left to one link"),
    _slow("rail", (0.6, 0.4, 0.2), "of its load is left to one rail"),
    _slow("receiver", (0.15, 0.3, 0.6), "of the time a host stops its switches"),
)  # fmt: skip

BY_NAME = {one.name: one for one in FAULTS}
STRENGTHS = ("weak", "middle", "strong")

QUIET = {
    "halves": "halves of every job that take turns",
    "stages": "a pipeline whose stages differ and whose job tells of no roles",
    "all_slow": "every clock falls at once",
    "churn": "jobs that end and begin",
    "lottery": "silicon that differs, and one place in every host that is hotter",
    "memory_bound": "jobs that use few matrix units and much power",
    "rests": "most of the domain idles and the mean shows it",
    "tenth": "a tenth idles",
}
"""Days on which nothing is wrong, and what happens on them."""
