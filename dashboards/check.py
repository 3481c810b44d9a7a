"""Finds what makes a board that looks valid show nothing, or something wrong.

Grafana loads such boards without a word: panels of the same id replace each other, panels that
overlap hide each other, a rate over less than two scrapes is empty, thresholds out of order
colour wrongly, and a metric that nobody exports is an empty panel. Works on any board's JSON,
not only on ours.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from dashboards.shape import misshapen
from fabrichealth.settings import seconds_of

WIDTH = 24
"""Columns of Grafana's grid."""

Panel = Mapping[str, Any]

VARIABLES = {
    "__rate_interval": "4m",
    "__interval": "1m",
    "__range": "6h",
    "__from": "0",
    "__to": "0",
}
"""Grafana's own variables, as it would fill them at a scrape a minute."""

ANYTHING = ".*"
"""What a drop-down's `All` stands for."""

_WORDS = frozenset({"and", "or", "unless", "bool", "offset", "inf", "nan", "atan2", "start", "end"})


def faults(board: Panel, scrape: float, exported: Container[str]) -> list[str]:
    """Return one line for each fault of a board.

    `scrape` is the seconds between two scrapes, `exported` the names of metrics there are. What is
    no board of Grafana's is told of by that alone.
    """
    if wrong := list(misshapen(board)):
        return wrong
    panels = list(_panels(board.get("panels") or ()))
    found = [
        *_identities(panels),
        *_places(board.get("panels") or ()),
        *(fault for panel in panels for fault in _windows(panel, scrape)),
        *(fault for panel in panels for fault in _thresholds(panel)),
        *_names(board, panels, exported),
    ]
    return [" ".join(fault.split()) for fault in found]


def queries(board: Panel) -> list[str]:
    """Return every query of a board's panels, as written."""
    return [
        str(target["expr"])
        for panel in _panels(board.get("panels", ()))
        for target in (panel.get("targets") or ())
        if "expr" in target
    ]


def substituted(query: str, values: Mapping[str, str] | None = None) -> str:
    """Return a query with Grafana's variables filled; a board's own ones mean anything."""
    known = {**VARIABLES, **(values or {})}

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2] or found[3]
        return known.get(name, ANYTHING)

    return re.sub(r"\$\{(\w+)(?::\w+)?\}|\$([A-Za-z_]\w*)|\[\[(\w+)\]\]", value, query)


_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')


def metrics_of(query: str) -> set[str]:
    """Return the names of the metrics that a PromQL query reads."""
    bare = _QUOTED.sub("", query)
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]", " ", bare)
    bare = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", bare)
    bare = re.sub(r"\bgroup_(left|right)\b|\b\d[\w.]*", " ", bare)
    words = re.findall(r"[A-Za-z_:][A-Za-z0-9_:]*\b(?!\s*\()", bare)
    return {word for word in words if word.lower() not in _WORDS}


def _panels(panels: Sequence[Panel]) -> Iterator[Panel]:
    """Yield panels and those inside collapsed rows."""
    for panel in panels:
        yield panel
        yield from _panels(panel.get("panels") or ())


def _title(panel: Panel) -> str:
    return f"panel {panel.get('id')} ({panel.get('title', '')})"


def _identities(panels: Sequence[Panel]) -> Iterator[str]:
    seen: dict[Any, str] = {}
    for panel in panels:
        number = panel.get("id")
        if number is None:
            yield f"{_title(panel)}: has no id"
        elif number in seen:
            yield f"{_title(panel)}: id {number} is taken by {seen[number]!r}"
        seen.setdefault(number, str(panel.get("title", "")))
        letters = [target.get("refId") for target in (panel.get("targets") or ())]
        if len(set(letters)) < len(letters):
            yield f"{_title(panel)}: two queries have the same refId"


def _places(panels: Sequence[Panel]) -> Iterator[str]:
    """Yield panels off the grid, and pairs that overlap."""
    laid: list[tuple[Panel, int, int, int, int]] = []
    for panel in panels:
        place = panel.get("gridPos") or {}
        if not {"x", "y", "w", "h"} <= place.keys():
            yield f"{_title(panel)}: has no gridPos"
            continue
        x, y, w, h = (int(place[key]) for key in "xywh")
        if x < 0 or w <= 0 or x + w > WIDTH:
            yield f"{_title(panel)}: goes over the right edge (x + w = {x + w} > {WIDTH})"
        laid.append((panel, x, y, x + w, y + h))
    for (one, x, y, right, bottom), (other, x2, y2, right2, bottom2) in combinations(laid, 2):
        if x < right2 and x2 < right and y < bottom2 and y2 < bottom:
            yield f"{_title(other)}: overlaps {_title(one)}"


def _windows(panel: Panel, scrape: float) -> Iterator[str]:
    """Yield range windows that may hold fewer than two samples."""
    for target in panel.get("targets") or ():
        asked = _QUOTED.sub('""', str(target.get("expr", "")))
        for window in re.findall(r"\[\s*([^\]:]+?)\s*(?::[^\]]*)?\]", asked):
            if window.strip("${}") in {"__rate_interval", "__range"}:
                continue
            if window.strip("${}") == "__interval":
                yield f"{_title(panel)}: $__interval may be shorter than two scrapes"
                continue
            length = sum(seconds_of(part) for part in re.findall(r"\d+(?:ms|[smhdwy])", window))
            if length < 2 * scrape:
                yield (
                    f"{_title(panel)}: window {window} is shorter than two scrapes of {scrape:g} s"
                )


def _thresholds(panel: Panel) -> Iterator[str]:
    defaults = (panel.get("fieldConfig") or {}).get("defaults") or {}
    steps = (defaults.get("thresholds") or {}).get("steps") or []
    if any(not step.get("color") for step in steps):
        yield f"{_title(panel)}: a threshold step has no colour"
    values = [step.get("value") for step in steps]
    if values and values[0] is not None:
        yield f"{_title(panel)}: the first threshold step has a value; it is the base colour"
    if None in values[1:]:
        yield f"{_title(panel)}: a threshold step after the first has no value"
        return
    for before, after in pairwise(values[1:]):
        if after <= before:
            yield f"{_title(panel)}: threshold steps out of order ({before:g} before {after:g})"


def _names(board: Panel, panels: Sequence[Panel], exported: Container[str]) -> Iterator[str]:
    """Yield metrics that nobody exports, in panels and in drop-downs."""
    for panel in panels:
        for target in panel.get("targets") or ():
            for name in sorted(metrics_of(substituted(str(target.get("expr", ""))))):
                if name not in exported:
                    yield f"{_title(panel)}: {name} is not an exported metric"
    for one in (board.get("templating") or {}).get("list") or ():
        found = re.match(r"label_values\(\s*([A-Za-z_:][\w:]*)", str(one.get("query", "")))
        if found and found[1] not in exported:
            yield f"variable {one.get('name')}: {found[1]} is not an exported metric"
