"""View: all that a detector may look at in one pass."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model.changes import Changes
from fabrichealth.model.finding import Finding
from fabrichealth.model.past import Past
from fabrichealth.model.window import Window

if TYPE_CHECKING:  # the topology speaks of ports, so it may not be needed to import them
    from fabrichealth.topology import Topology


T = TypeVar("T")


class View:
    """The recent past, the topology, the events, and the detector's own last findings."""

    def __init__(
        self,
        now: float,
        topology: Topology,
        events: Sequence[Event],
        before: Sequence[Finding],
        window: Callable[[Metric], Window],
        changes: Callable[[Metric], Changes],
        past: Callable[[Metric], Past] | None = None,
        shared: MutableMapping[Hashable, Any] | None = None,
        at_least: Callable[[Metric, int], Window] | None = None,
    ) -> None:
        self.now = now
        self.topology = topology
        self.events = events
        """Known until now, oldest first."""
        self.before = before
        """The detector's own findings of the last pass."""
        self._window = window
        self._changes = changes
        self._past = past
        self._at_least = at_least
        self._windows: dict[Metric, Window] = {}
        self._shared = {} if shared is None else shared

    def __getitem__(self, metric: Metric) -> Window:
        """Return the metric's window; its length is the detector's setting `window`."""
        found = self._windows.get(metric)
        if found is None:
            found = self._windows[metric] = self._window(metric)
        return found

    def but(self, windows: Mapping[Metric, Window]) -> View:
        """Return the same view with these windows in place of its own.

        What is worked out `once` of it is shared only among views with the very same windows.
        """
        key = ("other windows", id(windows))
        shared = self.once(key, lambda: (windows, dict[Hashable, Any]()))[1]
        return View(
            self.now, self.topology, self.events, self.before,
            lambda metric: windows[metric] if metric in windows else self[metric],
            self._changes, self._past, shared, self._at_least,
        )  # fmt: skip

    def at_least(self, metric: Metric, polls: int) -> Window:
        """Return the metric's window, further back where it holds fewer polls and more are known.

        It is read anew where it is wider: for the few passes in which something asks for it.
        """
        narrow = self[metric]
        if self._at_least is None or narrow.values.shape[1] >= polls:
            return narrow
        return self._at_least(metric, polls)

    def changes(self, metric: Metric) -> Changes:
        """Return the metric's changes over the detector's `memory`."""
        return self._changes(metric)

    def past(self, metric: Metric) -> Past:
        """Return the long past of a metric that the detector `recalls`.

        Raises:
            KeyError: nobody asked for this metric to be recalled.
        """
        if self._past is None:
            raise KeyError(f"{metric}: not recalled")
        return self._past(metric)

    def once(self, key: Hashable, work: Callable[[], T]) -> T:
        """Return what `work` gives, worked out once a pass for all who ask with the same key.

        The key holds every setting that the result depends on, spans of windows included.
        """
        if key not in self._shared:
            self._shared[key] = work()
        found: T = self._shared[key]
        return found
