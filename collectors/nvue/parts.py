"""Parts of a switch's tree: how often each is asked for, and by which resource this release has it.

Releases keep the same things in other places. The first resource that answers with what is looked
for is kept; one for all interfaces is preferred to one for each. What a switch has nowhere is
asked for again after a while.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from collectors.protocols import json_tree, nvue
from collectors.protocols.nvue import Tree
from collectors.transports.http import NoSuchResource
from collectors.trees.pace import Pace
from fabrichealth.errors import SourceUnavailable

PROBES = 3
"""Ports of which one must have a resource, if the switch has it; those that are up come first."""

Ask = Callable[[str], Coroutine[Any, Any, Any]]
"""Reads one resource; raises `NoSuchResource` where the switch has none of that name."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is read together: resources for all, resources for each port, names it is known by."""

    name: str
    period: float
    """Seconds between two readings; 0 for every visit."""
    whole: tuple[str, ...]
    each: tuple[str, ...]
    marks: frozenset[str]
    """Names of which one is in any answer that is worth anything."""


def parts(modules: float, phys: float, neighbors: float) -> tuple[Part, ...]:
    """Return every part but the interfaces themselves; periods are in seconds."""
    return (
        Part(
            "counters",
            0.0,
            ("interface?rev=operational&include=/*/counters",),
            ("interface/{}/counters", "interface/{}/link/counters", "interface/{}/link/stats"),
            frozenset({"in-bytes", "in-pkts"}),
        ),
        Part(
            "qos",
            0.0,
            (),
            ("interface/{}/counters/qos", "interface/{}/qos/counters"),
            frozenset({"pfc-stats", "egress-queue-stats"}),
        ),
        Part(
            "phys",
            phys,
            (),
            (
                "interface/{}/link/phy-detail",
                "interface/{}/link/phy/health",
                "interface/{}/link/phy-diag",
            ),
            frozenset({"raw-ber", "effective-ber", "symbol-ber"}),
        ),
        Part(
            "modules",
            modules,
            ("platform/transceiver",),
            ("platform/transceiver/{}", "interface/{}/transceiver"),
            frozenset({"channel", "temperature", "voltage", "ch-1-rx-power"}),
        ),
        Part("neighbors", neighbors, (), ("interface/{}/lldp",), frozenset({"neighbor"})),
        Part(
            "temperatures",
            modules,
            ("platform/environment/temperature",),
            (),
            frozenset({"current"}),
        ),
        Part("fans", modules, ("platform/environment/fan",), (), frozenset({"current-speed"})),
        Part("system", neighbors, ("system",), (), frozenset({"hostname", "build"})),
    )


@dataclass(slots=True)
class Reading:
    """What came of one part."""

    tree: Tree = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    """Resources that did not answer."""
    why: str = ""
    """What the first of them said, where it said anything."""
    unknown: bool = False
    """Whether this switch has the part nowhere."""


@dataclass(slots=True)
class Parts:
    """The parts of one switch; outlives visits."""

    pace: Pace
    _chosen: dict[str, str] = field(default_factory=dict)

    def due(self, part: Part, at: float, slack: float) -> bool:
        """Return whether a part is to be read at `at` (unix seconds), up to `slack` s early."""
        return self.pace.due(part.name, part.period, at, slack)

    async def read(
        self, part: Part, ports: Sequence[str], at: float, ask: Ask, seconds: float
    ) -> Reading:
        """Read a part of the switch, where it has it; wait no longer than so many seconds."""
        deadline = asyncio.get_running_loop().time() + seconds
        chosen = self._chosen.pop(part.name, None)
        silent, why = False, ""
        for resource in [chosen] if chosen else (*part.whole, *part.each):
            try:
                async with asyncio.timeout_at(deadline):
                    found, left = await _probed(resource, part.marks, ports, ask)
            except (TimeoutError, SourceUnavailable) as wrong:
                silent, why = True, why or str(wrong)
                continue
            if found is None:
                continue
            if left:
                await _rest(resource, part.marks, left, ask, deadline, found)
            self._chosen[part.name] = resource
            self.pace.read(part.name, at)
            return found
        if silent:
            return Reading(missing=[part.name], why=why)
        if chosen or not (ports or part.whole):
            return Reading()  # it may have moved: the next visit looks everywhere
        self.pace.lacks(part.name, at)
        return Reading(unknown=True)


async def _probed(
    resource: str, marks: Collection[str], ports: Sequence[str], ask: Ask
) -> tuple[Reading | None, Sequence[str]]:
    """Return what a resource holds and the ports that are left; None where it is nothing wanted."""
    each = "{}" in resource
    for number, port in enumerate(ports[:PROBES] if each else [""], start=1):
        path = resource.format(port) if each else resource
        try:
            body = await ask(path)
        except NoSuchResource:
            continue
        if nvue.holds(body, marks):
            return Reading(_below(path, body)), ports[number:] if each else ()
    return None, ()


async def _rest(
    resource: str,
    marks: Collection[str],
    ports: Sequence[str],
    ask: Ask,
    deadline: float,
    found: Reading,
) -> None:
    """Add what a resource holds of more ports; what does not come in time is missing."""
    loop = asyncio.get_running_loop()
    asked = {loop.create_task(ask(resource.format(port))): port for port in ports}
    try:
        await asyncio.wait(asked, timeout=max(deadline - loop.time(), 0))
        for task, port in asked.items():
            path = resource.format(port)
            if not task.done():
                found.missing.append(path)
                continue
            try:
                body = await task
            except NoSuchResource:
                continue
            except SourceUnavailable:
                found.missing.append(path)
                continue
            if nvue.holds(body, marks):
                json_tree.merge(found.tree, _below(path, body))
    finally:
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


def _below(resource: str, body: Any) -> Tree:
    return nvue.nested(resource.partition("?")[0], body)
