"""Draws a board from its own JSON and real data, where no Grafana is to be had.

What counts is taken from the JSON alone: layout, titles, units, thresholds, names of values, and
the queries, which a real server answers. The look is ours.
"""

import json
import re
import time
import urllib.parse
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from dashboards.check import substituted
from tests.dashboards.values import written

Plain = Mapping[str, Any]

COLORS = ("#3b82c4", "#d9772b", "#4f9d69", "#b04cc0", "#c4242b", "#8a7a1a", "#2aa5a0", "#7b61c9",
          "#c0508a", "#5a6b7b")  # fmt: skip
NAMED = {"green": "#4f9d69", "red": "#c4242b", "orange": "#e07b1a", "yellow": "#d9b310",
         "blue": "#3b82c4", "purple": "#b04cc0"}  # fmt: skip
CELL, COLUMN = 30, 56
"""Pixels of a row and a column of Grafana's grid, about."""
MOST = 10

STYLE = f"""
body {{ margin: 0; background: #f4f5f5; font: 12px system-ui, sans-serif; color: #24292e; }}
h1 {{ font-size: 18px; margin: 10px 14px; }}
main {{ position: relative; margin: 0 8px; width: {24 * COLUMN}px; }}
section {{ position: absolute; background: #fff; border: 1px solid #d8dadf; box-sizing: border-box;
  overflow: hidden; padding: 4px 8px; }}
section h2 {{ font-size: 12px; margin: 0 0 4px; font-weight: 600; white-space: nowrap; }}
.row {{ background: none; border: 0; font-size: 14px; }}
.stat {{ display: flex; align-items: center; justify-content: center; height: 75%; font-size: 30px;
  color: #fff; border-radius: 3px; }}
table {{ border-collapse: collapse; width: 100%; }} th, td {{ text-align: left; padding: 1px 6px;
  border-bottom: 1px solid #e6e8eb; white-space: nowrap; }}
.legend {{ font-size: 10px; line-height: 1.3; }} .empty {{ color: #8a9099; text-align: center;
  padding-top: 20px; }} pre {{ white-space: pre-wrap; margin: 0; }}
"""


@dataclass(frozen=True)
class Series:
    """One series of an answer: its name and points (unix seconds, value)."""

    name: str
    labels: Mapping[str, str]
    points: Sequence[tuple[float, float]]


class Prometheus:
    """A server that answers PromQL, asked over a span as Grafana asks."""

    def __init__(self, address: str, end: float, hours: float, choose: Mapping[str, str]) -> None:
        self._address = address
        self._end = end
        self.start = end - hours * 3600
        self.end = end
        self._step = max(15, int(hours * 3600 / 200))
        self._choose = {"__rate_interval": "4m", "__range": f"{int(hours * 60)}m", **choose}

    def answer(self, target: Plain) -> list[Series]:
        """Return the series of a target."""
        query = substituted(target["expr"], self._choose)
        if target.get("instant"):
            found = self._ask("query", query=query, time=self._end)
            every = [(one["metric"], [one["value"]]) for one in found]
        else:
            found = self._ask("query_range", query=query, start=self.start, end=self._end,
                              step=self._step)  # fmt: skip
            every = [(one["metric"], one["values"]) for one in found]
        return [
            Series(
                _legend(target, labels), labels, [(float(at), float(value)) for at, value in points]
            )
            for labels, points in every
        ]

    def _ask(self, what: str, **words: Any) -> list[dict[str, Any]]:
        url = f"{self._address}/api/v1/{what}?{urllib.parse.urlencode(words)}"
        with urllib.request.urlopen(url, timeout=30) as reply:
            rows: list[dict[str, Any]] = json.load(reply)["data"]["result"]
        return rows


def _legend(target: Plain, labels: Mapping[str, str]) -> str:
    form = str(target.get("legendFormat", ""))
    if form in {"", "__auto"}:
        return ", ".join(f"{k}={v}" for k, v in labels.items() if k != "__name__") or "value"
    return re.sub(r"\{\{(\w+)\}\}", lambda found: labels.get(found[1], ""), form)


def drawn(board: Plain, source: Prometheus) -> str:
    """Return a board as a page of HTML."""
    bodies = "".join(_section(panel, source) for panel in board["panels"])
    last = max(one["gridPos"]["y"] + one["gridPos"]["h"] for one in board["panels"])
    until = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(source.end))
    title = f"{escape(board['title'])} <small>until {until}</small>"
    return (f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><h1>{title}</h1>"
            f"<main style='height:{last * CELL + 20}px'>{bodies}</main>")  # fmt: skip


def _section(panel: Plain, source: Prometheus) -> str:
    place = panel["gridPos"]
    style = (f"left:{place['x'] * COLUMN}px;top:{place['y'] * CELL}px;"
             f"width:{place['w'] * COLUMN - 4}px;height:{place['h'] * CELL - 4}px")  # fmt: skip
    if panel["type"] == "row":
        return f"<section class=row style='{style}'><h2>{escape(panel['title'])}</h2></section>"
    if panel["type"] == "text":
        body = f"<pre>{escape(panel['options']['content'])}</pre>"
    else:
        found = [source.answer(target) for target in panel["targets"]]
        body = BODIES[panel["type"]](panel, found, source) if any(found) else _EMPTY
    return f"<section style='{style}'><h2>{escape(panel['title'])}</h2>{body}</section>"


_EMPTY = "<p class=empty>No data</p>"


def _defaults(panel: Plain) -> Plain:
    found: Plain = panel["fieldConfig"]["defaults"]
    return found


def _color(panel: Plain, value: float) -> str:
    for one in _defaults(panel).get("mappings", ()):
        named = one["options"].get(f"{value:g}")
        if named:
            return NAMED[named["color"]]
    color = "green"
    for step in _defaults(panel).get("thresholds", {}).get("steps", ()):
        if step["value"] is None or value >= step["value"]:
            color = step["color"]
    return NAMED[color]


def _text(panel: Plain, value: float) -> str:
    for one in _defaults(panel).get("mappings", ()):
        named = one["options"].get(f"{value:g}")
        if named:
            return str(named["text"])
    return written(value, _defaults(panel)["unit"])


def _size(panel: Plain) -> tuple[int, int]:
    place = panel["gridPos"]
    return place["w"] * COLUMN - 24, place["h"] * CELL - 44


def _lines(panel: Plain, found: Sequence[Sequence[Series]], source: Prometheus) -> str:
    rows = [one for answer in found for one in answer if one.points][:MOST]
    if not rows:
        return _EMPTY
    wide, high = _size(panel)
    high -= 14 * min(3, 1 + len(rows) // 4)
    values = [value for row in rows for _, value in row.points if value == value]
    low, top = min(values, default=0.0), max(values, default=1.0)
    if low == top:
        low, top = low - abs(low) / 10 - 0.5, top + abs(top) / 10 + 0.5
    left = 62

    def spot(at: float, value: float) -> str:
        x = left + (at - source.start) / (source.end - source.start) * (wide - left)
        return f"{x:.1f},{high - (value - low) / (top - low) * (high - 14) - 2:.1f}"

    lines = "".join(
        f"<polyline fill=none stroke='{COLORS[n % len(COLORS)]}' stroke-width=1.4 points='"
        f"{' '.join(spot(at, value) for at, value in row.points if value == value)}'/>"
        for n, row in enumerate(rows)
    )
    unit = _defaults(panel)["unit"]
    ends = [written(value, unit) for value in (low, top, (low + top) / 2)]
    axis = "".join(
        f"<line x1={left} x2={wide} y1={y} y2={y} stroke='#e6e8eb'/>"
        f"<text x={left - 4} y={y + 4} text-anchor=end font-size=10>{escape(text)}</text>"
        for y, text in ((12, ends[1]), (high / 2 + 5, ends[2]), (high - 2, ends[0]))
    )
    names = " ".join(
        f"<span style='color:{COLORS[n % len(COLORS)]}'>■</span> {escape(row.name[:48])}"
        for n, row in enumerate(rows)
    )
    return f"<svg width={wide} height={high}>{axis}{lines}</svg><div class=legend>{names}</div>"


def _stat(panel: Plain, found: Sequence[Sequence[Series]], _: Prometheus) -> str:
    newest = found[0][0].points[-1][1]
    color = _color(panel, newest)
    return f"<div class=stat style='background:{color}'>{escape(_text(panel, newest))}</div>"


def _table(panel: Plain, found: Sequence[Sequence[Series]], _: Prometheus) -> str:
    organize = panel["transformations"][-1]["options"]
    hidden, renamed = set(organize["excludeByName"]), organize["renameByName"]
    rows = [one for answer in found for one in answer]
    labels = sorted({name for row in rows for name in row.labels} - hidden)
    value = [] if "Value" in hidden else [renamed.get("Value", "Value")]
    head = "".join(f"<th>{escape(name)}</th>" for name in [*labels, *value])
    body = ""
    for row in rows[:40]:
        cells = [row.labels.get(name, "") for name in labels]
        cells += [_text(panel, row.points[-1][1])] if value else []
        body += f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    return f"<table><tr>{head}</tr>{body}</table>"


def _states(panel: Plain, found: Sequence[Sequence[Series]], source: Prometheus) -> str:
    wide, high = _size(panel)
    rows = [one for answer in found for one in answer if one.points][: max(1, high // 18)]
    left, span = 150, source.end - source.start
    step = span / 200
    marks = ""
    for n, row in enumerate(rows):
        y = n * 18
        marks += f"<text x=0 y={y + 12} font-size=10>{escape(row.name[:24])}</text>"
        for at, value in row.points:
            x = left + (at - source.start) / span * (wide - left)
            marks += (f"<rect x={x:.1f} y={y + 2} width={(wide - left) * step / span + 0.6:.1f} "
                      f"height=13 fill='{_color(panel, value)}'/>")  # fmt: skip
    return f"<svg width={wide} height={high}>{marks}</svg>"


def _bands(panel: Plain, found: Sequence[Sequence[Series]], source: Prometheus) -> str:
    rows = [one for answer in found for one in answer]
    wide, high = _size(panel)
    left, tall = 110, high / max(1, len(rows))
    most = max((value for row in rows for _, value in row.points), default=1.0) or 1.0
    span = source.end - source.start
    marks = ""
    for n, row in enumerate(rows):
        y = high - (n + 1) * tall
        marks += f"<text x=0 y={y + tall / 2 + 4:.1f} font-size=10>{escape(row.name[:18])}</text>"
        for at, value in row.points:
            if value > 0.5:
                x = left + (at - source.start) / span * (wide - left)
                hue = 240 - 240 * (value / most) ** 0.5
                marks += (f"<rect x={x:.1f} y={y:.1f} width={(wide - left) / 200 + 0.7:.1f} "
                          f"height={tall - 1:.1f} fill='hsl({hue:.0f},75%,52%)'/>")  # fmt: skip
    return f"<svg width={wide} height={high}>{marks}</svg>"


def _graph(panel: Plain, found: Sequence[Sequence[Series]], _: Prometheus) -> str:
    """Return nodes in columns by how far they are from where nothing waits."""
    edges = [(one.labels["source"], one.labels["target"], one.points[-1][1]) for one in found[0]]
    names = [one.labels["title"] for one in found[1]]
    depth = dict.fromkeys(names, 0)
    for _turn in names:
        for waiting, blocking, _share in edges:
            depth[waiting] = max(depth[waiting], min(len(names), depth[blocking] + 1))
    wide, high = _size(panel)
    columns = max(depth.values(), default=0) + 1
    used: dict[int, int] = {}
    spots = {}
    for name in names:
        place = used[depth[name]] = used.get(depth[name], 0) + 1
        spots[name] = (wide - (depth[name] + 0.5) * wide / columns, 36.0 * place)
    marks = ""
    for waiting, blocking, share in edges:
        (x1, y1), (x2, y2) = spots[waiting], spots[blocking]
        marks += f"<line x1={x1} y1={y1} x2={x2} y2={y2} stroke='#8a9099'/>"
        marks += f"<text font-size=10 x={(x1 + x2) / 2} y={(y1 + y2) / 2 - 3}>"
        marks += f"{escape(_text(panel, share))}</text>"
    for name, (x, y) in spots.items():
        marks += f"<circle cx={x} cy={y} r=7 fill='#fff' stroke='#3b82c4' stroke-width=2 />"
        marks += f"<text x={x} y={y + 20} font-size=10 text-anchor=middle>{escape(name)}</text>"
    return f"<svg width={wide} height={high}>{marks}</svg>"


BODIES = {
    "timeseries": _lines,
    "stat": _stat,
    "table": _table,
    "state-timeline": _states,
    "status-history": _states,
    "heatmap": _bands,
    "nodeGraph": _graph,
}


def empty(board: Plain, source: Prometheus) -> Iterable[str]:
    """Yield the titles of panels of which no query has an answer."""
    for panel in board["panels"]:
        targets = panel.get("targets", ())
        if targets and not any(source.answer(target) for target in targets):
            yield str(panel["title"])
