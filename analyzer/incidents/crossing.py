"""Crossing: what is said of ports whose cable leads elsewhere than written goes to that cable.

Of two crossed cables one falls, and by the topology two links are half down. What the ends heard of
each other says which cable it is: `a--b` of the ends that it truly joins, which is no link of the
topology. That it is written wrongly is told beside it (`cabling_contradicted`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

import numpy as np

from analyzer.evidence.ends import PortStates
from fabrichealth.catalogue.ports import NEIGHBOR_INFO
from fabrichealth.kinds import LINK_DOWN
from fabrichealth.model import Changes, Finding, Incident, Labels, Place, Port, SeriesTable
from fabrichealth.model.place import link_id
from fabrichealth.topology import Topology

HEARD = 3600.0
"""What was heard longer ago than this is forgotten; a cable with an open incident is not."""

Cables = Mapping[Port, Port]
"""The far end of each port whose cable leads elsewhere than written, both ways."""


@dataclass
class _Strange:
    """Series that tell of far ends other than written, told apart once."""

    seen: int = 0
    series: list[int] = field(default_factory=list)

    def learn(self, table: SeriesTable, topology: Topology) -> None:
        every = table.of(NEIGHBOR_INFO)
        for number in every[self.seen :].tolist():
            labels = table.labels(number)
            written = topology.link_of.get(Port(*labels[:2]))
            elsewhere = labels[:4] not in topology.facing and Port(*labels[2:4]) in topology.link_of
            if written is not None and elsewhere:
                self.series.append(number)
        self.seen = len(every)


# Derived and never decided upon: made again it is the same, only slower.
_known: WeakKeyDictionary[SeriesTable, WeakKeyDictionary[Topology, _Strange]]
_known = WeakKeyDictionary()


def crossed(heard: Changes, topology: Topology, open_now: Iterable[Incident]) -> Cables:
    """Return the cables that lead elsewhere than written, as their ends heard last.

    Both ends agree, or one of them hears nothing. Those of open incidents were found so before.
    """
    found = {
        near: far for one in open_now if _is_unwritten(one.culprit, topology)
        for near, far in _both(*map(Port.parse, one.culprit.id.split("--")))
    }  # fmt: skip
    said: dict[Port, tuple[float, Port]] = {}
    mine = _known.setdefault(heard.table, WeakKeyDictionary()).setdefault(topology, _Strange())
    mine.learn(heard.table, topology)
    for number in mine.series:
        row = int(np.searchsorted(heard.rows, number))
        if row < len(heard.rows) and heard.rows[row] == number:
            labels = heard.labels(row)
            near, seen = Port(*labels[:2]), float(heard.seen_at[row])
            if seen > max(said.get(near, (-np.inf,))[0], _as_written(heard, labels, topology)):
                said[near] = seen, Port(*labels[2:4])
    for near, (_, far) in said.items():
        if said.get(far, (0.0, near))[1] == near:
            found.update(_both(near, far))
    return found


def _as_written(heard: Changes, labels: Labels, topology: Topology) -> float:
    """Return when a port heard its written far end last, in the same way; never: -inf."""
    peer = topology.peer(Port(*labels[:2]))
    row = None if peer is None else heard.row(*labels[:2], *peer, *labels[4:])
    return -np.inf if row is None else float(heard.seen_at[row])


def _is_unwritten(culprit: Place, topology: Topology) -> bool:
    ends = culprit.id.split("--")
    return culprit.type == "link" and len(ends) == 2 and culprit.id not in topology.links


def _both(near: Port, far: Port) -> tuple[tuple[Port, Port], tuple[Port, Port]]:
    return (near, far), (far, near)


def uncrossed(
    findings: Sequence[Finding], cables: Cables, states: PortStates, topology: Topology
) -> list[Finding]:
    """Return findings with those of crossed cables about the cable that is ill."""
    if not cables:
        return list(findings)
    return [one for finding in findings for one in _told(finding, cables, states, topology)]


def _told(
    finding: Finding, cables: Cables, states: PortStates, topology: Topology
) -> Iterator[Finding]:
    about = finding.about
    if not isinstance(about, Port) or not finding.kind.causes:
        yield finding
        return
    if finding.kind is not LINK_DOWN:
        yield _of_cable(finding, about, cables, topology) if about in cables else finding
        return
    ends = [Port(line.labels["device"], line.labels["port"]) for line in finding.evidence]
    if not any(end in cables for end in ends):
        yield finding
        return
    for line, end in zip(finding.evidence, ends, strict=True):
        if end in cables:
            rows = [states.row(one) for one in (end, cables[end])]
            fell = [float(states.fallen_at[row]) for row in rows if row is not None]
            since = min((at for at in fell if np.isfinite(at)), default=finding.since)
            mine = _of_cable(finding, end, cables, topology)
            because = f"{end} is down; {_said(end, cables, topology)}"
            yield replace(mine, since=since, evidence=[line], because=because)


def _of_cable(finding: Finding, end: Port, cables: Cables, topology: Topology) -> Finding:
    ends = end, cables[end]
    return replace(
        finding,
        about=Place("link", link_id(*map(str, ends))),
        because=f"{finding.because}; {_said(end, cables, topology)}",
        side=finding.side if finding.side in ends else None,
        signs={},  # they are weighed along the written link
    )


def _said(end: Port, cables: Cables, topology: Topology) -> str:
    one, other = sorted((end, cables[end]))
    state = f"{one} is joined to {other} by what they heard"
    return f"{state}, though {topology.peer(one)} is written"
