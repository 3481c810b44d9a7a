"""Draws how a verdict was made: counter, ratio with its interval, state, incident, one time axis.

    python -m benchmarks.verdict_picture STATE INCIDENT docs/pictures/verdict.svg

From what a site kept (`fabrichealth demo --state FOLDER` leaves one in FOLDER/state): readings and
states out of its store, the incident out of its journal, nothing made up for the picture.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from analyzer.evidence.exposure import garwood
from fabrichealth.catalogue.ports import SPEED, SYMBOL_ERRORS
from fabrichealth.catalogue.verdicts import LINK_STATE
from fabrichealth.cli._incidents import newest
from fabrichealth.counters import increases
from fabrichealth.model import Floats
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.journal import SqliteJournal
from fabrichealth.store.protocol import Store

WIDTH, LEFT, RIGHT = 760, 150, 20
INK, PALE, BLUE, RED = "#333333", "#dddddd", "#1f77b4", "#c62828"
COLOURS = {
    "unknown": "#bdbdbd", "healthy": "#66a96b", "watch": "#f2d16b", "subhealthy": "#f0a04b",
    "drain": "#d9534f", "down": "#8b1a1a",
}  # fmt: skip

WINDOW = 720.0
"""Seconds that the ratio is counted over: the short window of link_subhealthy."""

BEFORE, AFTER = 240.0, 960.0
"""Seconds around the opening that are drawn."""


@dataclass(frozen=True)
class Story:
    """What is drawn: one port's errors, its link's states, the incident."""

    incident: Mapping[str, Any]
    at: Floats
    errors: Floats
    """The counter, read at `at` (unix seconds)."""
    bits_per_second: float
    states: Sequence[tuple[float, str]]
    """(time, state of the link as a whole), ascending."""


def story(state: Path, name: str) -> Story:
    """Return what a site kept of an incident of symbol errors.

    Raises:
        SystemExit: there is no such incident, or it rests on other readings.
    """
    paths = StatePaths(state)
    journal = SqliteJournal.open(paths.journal, read_only=True)
    incident = newest(journal).get(name)
    journal.close()
    if incident is None or incident["evidence"][-1]["metric"] != str(SYMBOL_ERRORS):
        raise SystemExit(f"{name}: no incident here that rests on {SYMBOL_ERRORS}")
    store = EmbeddedStore.open(paths.store, read_only=True)
    try:
        return _read(store, incident)
    finally:
        store.close()


def _read(store: Store, incident: Mapping[str, Any]) -> Story:
    start, end = incident["opened_at"] - BEFORE - WINDOW, incident["opened_at"] + AFTER
    labels = incident["evidence"][-1]["labels"]
    port = labels["device"], labels["port"]
    number = store.table.find(SYMBOL_ERRORS, port)
    speed = store.table.find(SPEED, port)
    if number is None or speed is None:
        raise SystemExit(f"{port}: no readings of it are kept")
    at, errors = store.one(number, start, end)
    rate = float(store.one(speed, start, end)[1][-1])
    states: list[tuple[float, str]] = []
    for one in store.table.of(LINK_STATE).tolist():
        link, side, word = store.table.labels(one)
        if link == incident["culprit"]["id"] and not side:
            times, values = store.one(one, start, end)
            pairs = zip(times.tolist(), values.tolist(), strict=True)
            states += [(when, word) for when, value in pairs if value]
    return Story(incident, at, errors, rate, sorted(states))


def picture(told: Story) -> str:
    """Return the drawing as SVG."""
    opened = told.incident["opened_at"]
    first, last = opened - BEFORE, min(opened + AFTER, float(told.at[-1]))
    drawing = _Drawing(first, last)
    seen = told.at >= first
    drawing.counter(60, told.at[seen], told.errors[seen])
    drawing.ratio(200, told, seen)
    drawing.strip(370, told.states)
    drawing.history(430, told.incident)
    return drawing.page(f"{told.incident['incident']}: {told.incident['culprit']['id']}", 520)


class _Drawing:
    """Panels over one time axis."""

    def __init__(self, first: float, last: float) -> None:
        self._first, self._last = first, last
        self._parts: list[str] = []

    def counter(self, top: float, at: Floats, values: Floats) -> None:
        """Draw the counter as it was read."""
        most = max(float(values.max()), 1.0)
        self._label(top, "the counter", "symbol errors,", f"0 to {most:.0f}")
        points = [(self._x(when), top + 100 - 100 * value / most)
                  for when, value in zip(at.tolist(), values.tolist(), strict=True)]  # fmt: skip
        self._line(points, BLUE)
        self._frame(top, 100)

    def ratio(self, top: float, told: Story, seen: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Draw the errors per bit of the last twelve minutes, with 95 %, beside the limit."""
        grew = increases(told.errors[None, :], told.at[None, :]).amount[0]
        grew = np.nan_to_num(grew)
        total = np.cumsum(grew)
        begun = np.searchsorted(told.at, told.at - WINDOW, side="right")
        events = total - total[np.maximum(begun - 1, 0)]
        seconds = told.at - told.at[np.minimum(begun, len(told.at) - 1)]
        found = garwood(events, seconds * told.bits_per_second)
        limit = float(told.incident["evidence"][-1]["expected"])
        self._label(top, "errors per bit", "last 12 min, 95 %", f"limit {limit:.0e}")
        rows = zip(told.at, found.rate, found.lower, found.upper, seen, strict=True)
        for when, rate, lower, upper, drawn in rows:
            if not drawn or not np.isfinite(upper):
                continue
            x = self._x(when)
            low, high = _log(top, max(lower, 1e-17)), _log(top, upper)
            colour = RED if lower > limit else BLUE
            self._parts.append(
                f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" '
                f'stroke="{colour}" stroke-opacity="0.5" stroke-width="2"/>'
            )
            if rate > 0:
                self._parts.append(
                    f'<circle cx="{x:.1f}" cy="{_log(top, rate):.1f}" r="1.6" fill="{colour}"/>'
                )
        y = _log(top, limit)
        self._line([(LEFT, y), (WIDTH - RIGHT, y)], INK, 'stroke-dasharray="5 4"')
        for power in range(-16, -11):
            self._text(LEFT - 6, _log(top, 10.0**power) + 4, f"1e{power}", "end", 10)
        self._frame(top, 130)

    def strip(self, top: float, states: Sequence[tuple[float, str]]) -> None:
        """Draw the state of the link as a band."""
        self._label(top - 14, "state of the link")
        named, level = "", 0
        for (when, state), (until, _) in zip(states, [*states[1:], (self._last, "")], strict=True):
            if until < self._first or when > self._last:
                continue
            x, width = self._x(when), self._x(until) - self._x(when)
            self._parts.append(
                f'<rect x="{x:.1f}" y="{top}" width="{width + 0.5:.1f}" height="24" '
                f'fill="{COLOURS[state]}"/>'
            )
            if state != named:
                self._text(x + 3, top + 36 + 11 * level, state, "start", 11)
                named, level = state, 1 - level
        self._frame(top, 24)

    def history(self, top: float, incident: Mapping[str, Any]) -> None:
        """Draw when the incident opened and was confirmed, and what it then said."""
        self._label(top - 4, "the incident", incident["kind"])
        opened, confirmed = incident["opened_at"], incident["confirmed_at"]
        said = f"confirmed: {incident['severity']}"
        for at, word in ((opened, "opened: first evidence"), (confirmed, said)):
            x = self._x(at)
            self._line([(x, 60), (x, top + 18)], INK, 'stroke-dasharray="2 3"')
            level = top + 12 if word.startswith("opened") else top + 30
            self._text(x + 4, level, word, "start", 11)
        for number, line in enumerate(wrap(incident["because"], 95)):
            self._text(LEFT, top + 50 + 14 * number, line, "start", 11)

    def page(self, title: str, height: int) -> str:
        """Return the whole."""
        for minute in range(0, int((self._last - self._first) / 60) + 1, 2):
            x = self._x(self._first + 60 * minute)
            self._text(x, height - 16, f"{minute - BEFORE / 60:.0f} min", "middle", 10)
        self._text(LEFT, 30, title, "start", 14)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" font-family="sans-serif">\n'
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n'
            + "\n".join(self._parts)
            + "\n</svg>\n"
        )

    def _x(self, at: float) -> float:
        share = (at - self._first) / (self._last - self._first)
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def _line(self, points: Sequence[tuple[float, float]], colour: str, more: str = "") -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5" {more}/>'
        )

    def _frame(self, top: float, height: float) -> None:
        self._parts.append(
            f'<rect x="{LEFT}" y="{top}" width="{WIDTH - LEFT - RIGHT}" height="{height}" '
            f'fill="none" stroke="{PALE}"/>'
        )

    def _label(self, top: float, *lines: str) -> None:
        for number, line in enumerate(lines):
            self._text(8, top + 14 + 15 * number, line, "start", 12 if number == 0 else 10)

    def _text(self, x: float, y: float, words: str, anchor: str, size: int) -> None:
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{INK}">{escape(words)}</text>'
        )


def _log(top: float, ratio: float) -> float:
    """Return where a ratio stands: 1e-12 above, 1e-16 below, a decade 32.5 high."""
    share = (np.log10(ratio) + 16.0) / 4.0
    return float(top + 130 - 130 * min(max(share, 0.0), 1.0))


def main() -> None:
    """Draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path)
    parser.add_argument("incident")
    parser.add_argument("file", type=Path)
    asked = parser.parse_args()
    asked.file.write_text(picture(story(asked.state, asked.incident)), encoding="utf-8")
    print(asked.file)


if __name__ == "__main__":
    main()
