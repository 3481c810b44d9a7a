"""Distribution of recovery times: by cause and by domain, what goes on included, drills apart.

Repair times are long-tailed, so median, 90 % and 99 % are told and no mean (detection reference,
D6). What is not over yet is censored, and a quantile that was never reached is not made up. How
often a kind of part fails is failures over part-hours, with the bounds of so few.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from analyzer.incidents.scope import domain_of
from analyzer.recovery.cases import Case, is_drill, part_of
from analyzer.recovery.phases import PHASES, phases
from analyzer.recovery.survival import kaplan_meier
from analyzer.scoring.bounds import Rate
from fabrichealth.events import Event
from fabrichealth.model import Place
from fabrichealth.topology import Topology

QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class Times:
    """How long one phase takes for one group; quantiles in seconds, None where not reached."""

    by: str
    """cause or domain."""
    group: str
    phase: str
    drill: bool
    number: int
    over: int
    median: float | None
    p90: float | None
    p99: float | None


@dataclass(frozen=True, slots=True)
class Failures:
    """How often parts of one kind fail, and what they take with them when they do."""

    part: str
    parts: int
    """How many of them there are."""
    failures: int
    between: float | None
    """Mean seconds of one part between failures; None before the first."""
    at_least: float
    """Its lower bound, 95 %."""
    accelerators: float | None
    """Mean number of accelerators hit by a failure; the most is `most_accelerators`."""
    most_accelerators: int
    jobs: float | None
    most_jobs: int


def times(
    cases: Iterable[Case], events: Sequence[Event], topology: Topology, now: float
) -> list[Times]:
    """Return how long each phase takes, by cause (a kind where none is known) and by domain."""
    groups: dict[tuple[str, str, str, bool], tuple[list[float], list[bool]]]
    groups = defaultdict(lambda: ([], []))
    every = sorted(cases, key=lambda case: case.opened_at)
    of_part: dict[Place, list[float]] = defaultdict(list)
    for case in every:
        of_part[case.place].append(case.opened_at)
    for case in every:
        drill = is_drill(case, events, topology)
        closed = inf if case.closed_at is None else case.closed_at
        later = bisect_right(of_part[case.place], closed)  # what began before shares the repair
        next_one = (*of_part[case.place][later : later + 1], inf)[0]
        for phase in phases(case, events, topology, now, next_one):
            for by, group in (("cause", case.cause or case.kind), ("domain", case.domain)):
                lasted, over = groups[by, group, phase.name, drill]
                lasted.append(phase.seconds)
                over.append(phase.over)
    found = []
    for by, group, name, drill in sorted(groups, key=_order):
        lasted, over = groups[by, group, name, drill]
        known = kaplan_meier(lasted, over)
        median, p90, p99 = (known.quantile(share) for share in QUANTILES)
        found.append(Times(by, group, name, drill, known.number, known.ended, median, p90, p99))
    return found


def _order(key: tuple[str, str, str, bool]) -> tuple[str, bool, str, int]:
    by, group, name, drill = key
    return by, drill, group, PHASES.index(name)


def failures(
    cases: Sequence[Case],
    events: Sequence[Event],
    topology: Topology,
    since: float,
    now: float,
    domains: Collection[str] | None = None,
) -> list[Failures]:
    """Return how often each kind of part failed from `since` to `now`, drills left out.

    With `domains` only parts of these count, "" being those of no single domain.
    """
    mine: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        counts = domains is None or case.domain in domains
        if counts and since <= case.opened_at <= now and not is_drill(case, events, topology):
            mine[case.part].append(case)
    found = []
    for part, parts in sorted(_population(topology, domains).items()):
        hit = mine.get(part, [])
        exposure = parts * max(now - since, 0.0)
        bounds = Rate(len(hit), exposure).bounds
        found.append(
            Failures(
                part,
                parts,
                len(hit),
                exposure / len(hit) if hit else None,
                1.0 / bounds[1] if bounds and bounds[1] > 0 else 0.0,
                *_mean_and_most(hit, lambda case: case.accelerators),
                *_mean_and_most(hit, lambda case: case.jobs),
            )
        )
    return found


def _population(topology: Topology, domains: Collection[str] | None) -> dict[str, int]:
    """Return how many parts of each kind there are."""
    places: Iterator[Place] = (
        place
        for type_, names in (
            ("device", topology.devices),
            ("link", topology.links),
            ("rack", topology.racks),
            ("feed", topology.feeds),
            ("loop", topology.loops),
        )
        for place in (Place(type_, name) for name in names)
    )
    count: dict[str, int] = defaultdict(int)
    for place in places:
        if domains is not None and (domain_of(place, topology) or "") not in domains:
            continue
        count[part_of(place, topology)] += 1
    return count


def _mean_and_most(
    cases: Sequence[Case], number: Callable[[Case], int]
) -> tuple[float | None, int]:
    counts = [number(case) for case in cases]
    return (sum(counts) / len(counts), max(counts)) if counts else (None, 0)
