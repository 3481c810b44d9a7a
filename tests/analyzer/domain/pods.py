"""A pod of hosts with accelerators, and what those say, written by hand."""

from collections.abc import Callable, Mapping, Sequence
from math import inf

import numpy as np

from analyzer.detector import AnyDetector
from analyzer.judge import detectors
from analyzer.viewing import Viewing
from benchmarks.corpus.last_hours import LastHours
from fabrichealth.catalogue.accelerators import ALLOCATED, UTILIZATION
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Finding, Floats, Labels, View
from fabrichealth.topology import Device, Domain, Link, Rack, Topology
from tests.analyzer.views import START

Said = dict[tuple[Metric, Labels], Sequence[float]]
POLLS = 65
"""Ten minutes and a bit, at ten seconds."""


def pod(hosts: int = 8, cards: int = 4, declared: int = 0, rails: int = 2) -> Topology:
    """Return hosts in two racks of pod-a, each with a port to every leaf: a rail each."""
    devices = [Device(name=f"leaf-{r}", role="switch", tier=1) for r in range(rails)]
    links = []
    for h in range(hosts):
        rack = f"r{1 + 2 * h // hosts}"
        devices.append(Device(name=f"host-{h}", role="host", rack=rack))
        devices += [
            Device(name=f"host-{h}-{c}", role="accelerator", host=f"host-{h}", model="X")
            for c in range(cards)
        ]
        links += [
            Link(a=f"host-{h}/eth{r}", b=f"leaf-{r}/{h}", technology="ib", speed_gbps=400)
            for r in range(rails)
        ]
    return Topology(
        devices,
        links,
        [Domain(name="pod-a", accelerators=declared)],
        [Rack(name=name, domain="pod-a") for name in ("r1", "r2")],
    )


def names(hosts: int = 8, cards: int = 4) -> list[str]:
    """Return the accelerators of a pod."""
    return [f"host-{h}-{c}" for h in range(hosts) for c in range(cards)]


def each(
    metric: Metric,
    of: Sequence[str],
    value: float | Callable[[int], Floats],
    polls: int = POLLS,
    noise: float = 0.0,
    seed: int = 1,
) -> Said:
    """Return what some devices say: a level, with noise, or a course by their number."""
    chance = np.random.default_rng(seed)
    found: Said = {}
    for number, name in enumerate(of):
        course = value(number) if callable(value) else np.full(polls, value)
        told = course + noise * chance.standard_normal(len(course))
        found[metric, (name,)] = np.clip(told, *metric.valid).tolist()
    return found


def started(
    job: str, accelerators: Sequence[str], at: float = -3600.0, **roles: Sequence[str]
) -> Event:
    """Return the beginning of a job, so many seconds after the first poll."""
    more: dict[str, object] = {"accelerators": list(accelerators)}
    if roles:
        more["roles"] = {role: list(those) for role, those in roles.items()}
    return Event(START + at, "job_start", {"job": job}, more=more)


def held(of: Sequence[str], by_none: Sequence[str] = (), polls: int = POLLS) -> Said:
    """Return what a scheduler says of accelerators that are held, and of some that are not."""
    return {**each(ALLOCATED, of, 1.0, polls), **each(ALLOCATED, by_none, 0.0, polls)}


def seen(
    detector: AnyDetector,
    *parts: Mapping[tuple[Metric, Labels], Sequence[float]],
    topology: Topology | None = None,
    events: Sequence[Event] = (),
    before: Sequence[Finding] = (),
    period: float = 10.0,
) -> View:
    """Return what a detector sees of these readings a moment after the last poll.

    A host answers for all its accelerators at once, each host at its own moment.
    """
    history = {key: values for part in parts for key, values in part.items()}
    longest = max((len(values) for values in history.values()), default=1)
    store = LastHours(inf)
    hosts: dict[str, list[tuple[int, Sequence[float]]]] = {}
    for (metric, labels), values in history.items():
        host = "-".join(labels[0].split("-")[:2])
        hosts.setdefault(host, []).append((store.table.intern(metric, labels), values))
    for number, (name, rows) in enumerate(hosts.items()):
        clock = store.table.clock("test", name)
        series = np.array([row for row, _ in rows], np.int32)
        told = np.full((longest, len(rows)), np.nan)
        for column, (_, values) in enumerate(rows):
            told[: len(values), column] = values
        phase = (number % 5) * 0.1 * min(period, 5.0)
        for poll in np.flatnonzero(np.isfinite(told).any(axis=1)).tolist():
            known = np.isfinite(told[poll])
            at = START + poll * period + phase
            store.append([Batch(clock, at, series[known], told[poll, known])])
    viewing = Viewing(store, {"detector": detector})
    viewing.advance(START + (longest - 1) * period + min(period, 5.0) * 0.5)
    return viewing.view(detector, topology or pod(), list(events), before)


def said(
    detector: str,
    *parts: Mapping[tuple[Metric, Labels], Sequence[float]],
    topology: Topology | None = None,
    events: Sequence[Event] = (),
    before: Sequence[Finding] = (),
    period: float = 10.0,
) -> list[Finding]:
    """Return what a detector finds in these readings."""
    one = detectors()[detector]
    return list(one.judge(seen(one, *parts, topology=topology, events=events, before=before,
                               period=period)))  # fmt: skip


def busy(of: Sequence[str], level: float = 0.9, polls: int = POLLS) -> Said:
    """Return accelerators that work, with noise."""
    return each(UTILIZATION, of, level, polls, noise=0.02)
