"""Ways: how one machine shows that it holds back a job, in words for a person."""

from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.evidence.domain.inventory import Inventory, Rows
from analyzer.evidence.domain.lagging import Lagging
from analyzer.evidence.domain.owners import listed
from analyzer.evidence.domain.rails import Slow
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.accelerators import CLOCK
from fabrichealth.catalogue.ports import TX_BYTES
from fabrichealth.metric import Metric
from fabrichealth.model import Evidence, Place
from fabrichealth.units import Unit


@dataclass(frozen=True, eq=False)
class Way:
    """One way in which a device holds back a job."""

    device: str
    job: str
    score: float
    """Robust deviations from its peers."""
    since: float
    at: float
    peers: str
    """Whom it holds back, for a person."""
    says: str
    line: Evidence
    victims: tuple[Place, ...]
    lagging: Lagging | None = None
    """Where it shows in accelerators."""


def of_accelerators(stock: Inventory, one: Lagging) -> Way:
    """Return how accelerators lag."""
    names = [stock.names[row] for row in one.rows.tolist()]
    device = one.host or names[0]
    others = one.group.but(len(names))
    who = f"{one.host}: {listed(names)}" if one.host else names[0]
    told = f"{who}: {one.signal.says}; {one.score:.1f} robust deviations from {others}"
    metric = one.signal.metric
    return Way(
        device, one.group.job.name, one.score, one.since, one.at, others,
        f"{one.signal.says}, {one.signal.reads}{_beside(metric, one.value, one.usual)}",
        evidence(metric, (names[0],), one.value, one.at, told, one.usual),
        tuple(Place("device", name) for name in names if name != device), one,
    )  # fmt: skip


def of_rails(job: str, hosts: int, one: Slow) -> Way:
    """Return how a host, a rail or a link is slow."""
    metric = one.signal.metric
    where = {"host": "", "rail": "its rail: ", "link": f"{one.port}: "}[one.what]
    told = f"{where}{one.signal.says}; {one.score:.1f} robust deviations from the others"
    labels = dict(zip(("device", "port"), one.port, strict=True))
    unit = "ratio" if metric is not TX_BYTES else Unit.BYTES_PER_SECOND.value
    return Way(
        one.device, job, one.score, one.since, one.at,
        f"{hosts if one.what == 'rail' else hosts - 1} hosts in job {job}",
        f"{where}{one.signal.says}, {_beside(metric, one.value, one.usual)}",
        Evidence(metric, labels, one.value, one.usual, unit, one.at, told),
        (Place("port", str(one.port)),) if one.what == "link" else (),
    )  # fmt: skip


def _beside(metric: Metric, value: float, usual: float) -> str:
    """Return a number beside that of the peers, in the unit that a person reads."""
    if metric is CLOCK:
        return f"{value / 1e9:.2f} GHz beside {usual / 1e9:.2f} GHz"
    if metric is TX_BYTES:
        return f"{value * 8e-9:.1f} Gb/s beside {usual * 8e-9:.1f} Gb/s"
    return f"{value:.0%} of the time beside {usual:.0%}"


def by_device(ways: Iterator[Way]) -> dict[str, list[Way]]:
    """Return the ways of each device, the one that stands out most first."""
    found: dict[str, list[Way]] = {}
    for one in ways:
        found.setdefault(one.device, []).append(one)
    for mine in found.values():
        mine.sort(key=lambda one: -one.score)
    return dict(sorted(found.items()))


def in_words(ways: list[Way]) -> list[str]:
    """Return each sort of way once, as the one that stands out most shows it."""
    told: dict[Metric, str] = {}
    for one in ways:
        told.setdefault(one.line.metric, one.says)
    return list(told.values())


def group_of(ways: list[Way]) -> tuple[Rows, Rows] | None:
    """Return the accelerators that lag most, and their whole group; None where only ports do."""
    for one in ways:
        if one.lagging is not None:
            return one.lagging.rows, one.lagging.group.rows
    return None
