"""Reasons: the pauses of this pass, each tree of them with where it begins."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from analyzer.evidence.pause.crossings import PRIORITIES
from analyzer.evidence.pause.gathering import POLLS, Pauses, gather
from analyzer.evidence.pause.origins import Tree, trees, victims
from analyzer.evidence.pause.shares import Shares
from analyzer.evidence.pause.uncounted import passed_on
from analyzer.evidence.pause.waiting import PAUSED, Allowed, Bools, Places, Queues, Waits, waits
from fabrichealth.catalogue.congestion import PFC_RX_PAUSE
from fabrichealth.model import Floats, Port, View

MOST_BRANCHES = 8
"""Of a tree that are told with its origin: what is near says enough."""

MOST_POLLS = 0.6
"""Of the last polls so many must say the same."""

STEADY_SECONDS = 5.0
"""Pauses of this long are no burst (C2); coarser polls need two."""


@dataclass(frozen=True, eq=False, slots=True)
class Origin:
    """Where pauses begin, as far as can be seen."""

    port: Port
    """The port that stops others, or whose queue is full."""
    stopped: Port | None
    """The port that it stops; None where a full queue is the origin itself."""
    priority: int
    queue: int
    """Number of the stopped or full queue among all of the fabric."""
    seen: bool
    """Whether the device that stops others is read, and all that may stop it in turn."""
    forwards: bool
    """Whether the device that stops others passes on what it gets: it may have a reason itself."""
    share: float
    """Of its tree's paused time, what it explains."""
    waiting: tuple[Port, ...]
    """Ports whose queues wait for it, nearest first."""
    queues: int
    """How many queues the tree has."""
    edges: tuple[tuple[Port, Port, float], ...] = ()
    """(waiting, blocking, share of all time) of the nearest, each queue once, from the origin."""
    others: float = 0.0
    """Of its tree's paused time, what ends explain: those that pass nothing on."""
    lone: bool = False
    """Whether the port says itself that it stops what it faces, and no cable is known."""

    @property
    def full(self) -> bool:
        """Whether the origin is a queue that is full and not something that stops others."""
        return self.stopped is None and not self.lone


@dataclass(frozen=True, eq=False)
class Reasons:
    """What a pass knows of pauses and their origins."""

    pauses: Pauses
    chosen: Places
    """The queues that are vertices, among all."""
    queues: Queues
    graph: Waits
    trees: list[Tree]

    @property
    def steady(self) -> int:
        """So many of the usual queue's last polls make up what is no burst."""
        return self._steady(self.pauses.period)

    def steady_of(self, origin: Origin) -> int:
        """Return how many of an origin's own last polls make up what is no burst."""
        return self._steady(self.pace(origin))

    def pace(self, origin: Origin) -> float:
        """Return the seconds between polls of what an origin stops."""
        own = float(self.shares(origin).pace[origin.queue])
        return own if own > 0 else self.pauses.period

    @staticmethod
    def _steady(period: float) -> int:
        polls = np.ceil(STEADY_SECONDS / period) if period > 0 else 2
        return int(min(max(polls, 2), POLLS))

    def shares(self, origin: Origin) -> Shares:
        """Return the shares that speak of an origin: of what it stops, or its own word."""
        return self.pauses.stops if origin.lone else self.pauses.stopped

    def duty(self, origin: Origin) -> float:
        """Return for which share of the last polls an origin stopped what it faces."""
        last = self.shares(origin).share[origin.queue, -self.steady_of(origin) :]
        known = np.isfinite(last)
        return float(last[known].mean()) if known.any() else 0.0

    def lasting(self, origin: Origin, share: float) -> bool:
        """Return whether most of the last polls, and two at the least, are beyond a share.

        One wild poll is none, however wild.
        """
        steady = self.steady_of(origin)
        last = self.shares(origin).share[origin.queue, -steady:]
        beyond = int(np.count_nonzero(np.nan_to_num(last) >= share))
        return beyond >= max(2, round(MOST_POLLS * steady))

    def moving(self, origin: Origin, share: float) -> int:
        """Return in how many of the last polls an origin stopped what it faces for a share."""
        every = np.nan_to_num(self.shares(origin).share[origin.queue])
        return int(np.count_nonzero(every >= share))

    def load(self, origin: Origin) -> float | None:
        """Return the share of line rate that its port sent over the last polls; None: not known."""
        load = self.pauses.carried[self.port_of(origin), -self.steady :]
        known = load[np.isfinite(load)]
        return float(known.mean()) if len(known) else None

    def exact(self, origin: Origin) -> bool:
        """Return whether that share is counted as time; else it is an upper bound."""
        return bool(self.shares(origin).exact[origin.queue])

    @cached_property
    def origins(self) -> list[Origin]:
        """The origins of all trees, each tree's likeliest first.

        And ports that say themselves that they stop what they face, where no cable is known.
        """
        found = self._lone()
        for tree in self.trees:
            mine = [
                self._origin(tree, vertex, share)
                for vertex, share in zip(tree.origins.tolist(), tree.shares.tolist(), strict=True)
            ]
            told = min(sum(one.share for one in mine if not one.forwards), 1.0)
            found += [replace(one, others=told) if one.forwards else one for one in mine]
        return self._likeliest(found)

    def _likeliest(self, found: list[Origin]) -> list[Origin]:
        """Leave out what may only pass on: who is behind an unknown cable cannot be ordered.

        Of the stopped queues of a priority that nothing is known to face, the one stopped most
        speaks for all; none does where a port says itself that it stops others.
        """
        told = {one.priority for one in found if one.lone}
        unknown = [one for one in found if one.port == one.stopped and one.priority not in told]
        ordered = sorted(unknown, key=self.duty, reverse=True)  # the first of equals comes first
        most = {one.priority: one for one in reversed(ordered)}
        return [one for one in found if one.port != one.stopped or most.get(one.priority) is one]

    def _lone(self) -> list[Origin]:
        pauses = self.pauses
        level = np.nan_to_num(pauses.stops.share[:, -self.steady :]).mean(axis=1)
        alone = np.flatnonzero(level > PAUSED)
        alone = alone[pauses.crossings.far[alone // PRIORITIES] < 0]
        # who is stopped itself passes it on
        held = np.nan_to_num(pauses.stopped.share[:, -self.steady :]).mean(axis=1) > PAUSED
        device = np.repeat(pauses.crossings.device, PRIORITIES) * PRIORITIES
        key = device + np.arange(len(held)) % PRIORITIES
        alone = alone[~np.isin(key[alone], key[held])]
        ports = pauses.crossings.ports
        return [
            Origin(
                ports[one // PRIORITIES],
                None,
                one % PRIORITIES,
                one,
                seen=True,
                forwards=False,
                share=1.0,
                waiting=(),
                queues=1,
                lone=True,
            )
            for one in alone.tolist()
        ]

    def _origin(self, tree: Tree, vertex: int, share: float) -> Origin:
        n = self.graph.n
        place = vertex if vertex < n else vertex - n
        queue = int(self.chosen[place])
        own = self.port(place)
        waiting, _ = victims(self.graph, vertex)
        far = self.far_port(place) if vertex >= n else None
        return Origin(
            far or own,
            own if vertex >= n else None,
            queue % PRIORITIES,
            queue,
            vertex < n or bool(self.queues.ends[place]) or self._seen(place),
            vertex >= n and not bool(self.queues.ends[place]) and far is not None,
            share,
            tuple(dict.fromkeys(self.port(one) for one in waiting.tolist())),
            len(tree.queues),
            self._branches(vertex),
        )

    def _seen(self, place: int) -> bool:
        """Return whether what faces a vertex speaks itself, of all that the vertex may wait for."""
        far = int(self.queues.far_device[place])
        return far >= 0 and not bool(self.pauses.silent[far] or self.queues.hidden[place])

    @cached_property
    def _weight(self) -> Floats:
        """Share of all time for which each edge is waited along ([e])."""
        level = np.nan_to_num(self.queues.paused).mean(axis=1)
        return np.asarray(level[self.graph.waiting] * self.graph.share, np.float64)

    def _branches(self, origin: int) -> tuple[tuple[Port, Port, float], ...]:
        """Return the nearest edges that lead to an origin, the strongest of each queue."""
        graph, weight = self.graph, self._weight
        found: list[tuple[Port, Port, float]] = []
        seen, front = {origin}, [origin]
        while front and len(found) < MOST_BRANCHES:
            edges = np.flatnonzero(np.isin(graph.blocking, front))
            front = []
            for edge in edges[np.argsort(-weight[edges], kind="stable")].tolist():
                waiting = int(graph.waiting[edge])
                if waiting not in seen:
                    seen.add(waiting)
                    front.append(waiting)
                    found.append((self.port(waiting), self._end(edge), float(weight[edge])))
        return tuple(found[:MOST_BRANCHES])

    def _end(self, edge: int) -> Port:
        """Return the port that an edge waits for."""
        blocking = int(self.graph.blocking[edge])
        if blocking < self.graph.n:
            return self.port(blocking)
        return self.far_port(blocking - self.graph.n) or self.port(blocking - self.graph.n)

    def edges(self, most: int) -> list[tuple[Port, Port, int, float]]:
        """Return who waits for whom: (waiting, blocking, priority, share of all time).

        The strongest first; the share is of the last polls.
        """
        graph, weight = self.graph, self._weight
        found = []
        for edge in np.argsort(-weight, kind="stable")[:most].tolist():
            waiting = int(graph.waiting[edge])
            priority = int(self.queues.priority[waiting])
            found.append((self.port(waiting), self._end(edge), priority, float(weight[edge])))
        return found

    def port_of(self, origin: Origin) -> int:
        """Return the number of the port whose queue an origin is, or stops."""
        return origin.queue // PRIORITIES

    def port(self, place: int) -> Port:
        """Return the port of a vertex."""
        return self.pauses.crossings.ports[int(self.queues.port[place])]

    def far_port(self, place: int) -> Port | None:
        """Return the port that faces a vertex's, None if no cable is known."""
        ports = self.pauses.crossings
        far = int(ports.far[int(self.queues.port[place])])
        return None if far < 0 else ports.ports[far]


def reasons(view: View) -> Reasons | None:
    """Return the pauses of this pass and their origins, None if nothing speaks of pauses."""
    return view.once(("pause reasons", view[PFC_RX_PAUSE].seconds), lambda: _reasons(view))


def _reasons(view: View) -> Reasons | None:
    pauses = gather(view)
    if pauses is None:
        return None
    chosen = pauses.active()
    queues = pauses.queues(chosen)
    allowed = Allowed(routed=_routed(view, pauses, queues))
    queues = passed_on(queues, allowed)
    graph = waits(queues, allowed)
    return Reasons(pauses, chosen, queues, graph, trees(graph, _seconds(pauses, queues)))


def _seconds(pauses: Pauses, queues: Queues) -> Floats:
    """Return how long each queue was paused over the last polls."""
    period = pauses.period if pauses.period > 0 else 1.0
    return np.asarray(np.nan_to_num(queues.paused).sum(axis=1) * period, np.float64)


def _routed(view: View, pauses: Pauses, queues: Queues) -> Bools | None:
    """Return which egresses a route to some device names ([n]); None if none is written.

    Routes to a tier say how things are as a rule, and lift none.
    """
    every = [one for one in view.topology.routing if one.to in view.topology.devices]
    if not every:
        return None
    named = {(route.device, via) for route in every for via in route.via}
    ports = pauses.crossings.ports
    return np.array([tuple(ports[int(port)]) in named for port in queues.port], np.bool_)
