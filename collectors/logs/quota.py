"""A quota of events: what a flooding log may write into the journal.

Of each code of each device so many lines in a span become events; the rest are counted and told in
one event when the span is over. Counters miss nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from fabrichealth.events import Event

AT_ONCE = 20
"""Of all codes together at most this many times the quota of one."""


@dataclass(slots=True)
class _Span:
    """One span of one code of one device."""

    start: float
    told: int = 0
    held: int = 0
    last: Event | None = None


@dataclass(slots=True)
class Quota:
    """Lets `most` events of a kind pass in `over` seconds."""

    most: int
    over: float
    _spans: dict[tuple[str, str], _Span] = field(default_factory=dict)
    _whole: dict[bool, _Span] = field(default_factory=dict)

    def admits(self, device: str, code: str, event: Event, *, listed: bool = True) -> bool:
        """Return whether an event may pass; one that may not is counted.

        What made-up devices say takes nothing from what may be told of the listed ones.
        """
        whole = self._whole.get(listed)
        if whole is None or not whole.start - self.over <= event.at < whole.start + self.over:
            whole = self._whole[listed] = _Span(event.at)
        span = self._spans.get((device, code))
        if span is None:
            span = self._spans[device, code] = _Span(event.at)
        if span.told < self.most and whole.told < self.most * AT_ONCE:
            span.told += 1
            whole.told += 1
            return True
        span.held += 1
        span.last = event
        return False

    def due(self, at: float) -> Iterator[Event]:
        """Yield one event for each kind whose span is over and that held some back."""
        for key, span in list(self._spans.items()):
            if at >= span.start + self.over:
                del self._spans[key]
                yield from _told(span)

    def all(self) -> Iterator[Event]:
        """Yield what is held back, whether its span is over or not."""
        spans, self._spans = self._spans, {}
        self._whole = {}
        for span in spans.values():
            yield from _told(span)


def _told(span: _Span) -> Iterator[Event]:
    last = span.last
    if last is None:
        return
    text = f"{span.held} more such lines, the last: {last.more['text']}"
    more: Mapping[str, object] = {**last.more, "text": text, "lines": span.held}
    yield replace(last, more=more)
