"""Board: rows of panels, each a question with its queries; grafanalib stands behind it.

Panels are laid out left to right, so they can neither overlap nor leave the page; ids are
numbered here, so they cannot clash. The data source is a variable: a board works on any
Prometheus-compatible engine. Grafana's current schema is written out, whatever grafanalib's own
default is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from grafanalib.core import (
    Dashboard,
    GridPos,
    Panel,
    RowPanel,
    Stat,
    StateTimeline,
    Table,
    Target,
    Template,
    Templating,
    Threshold,
    Time,
    TimeSeries,
)

SCHEMA_VERSION = 41
"""Grafana 11 and 12 write 41; older Grafanas migrate upwards only."""

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24
"""Columns of Grafana's grid."""

RATE = "$__rate_interval"
"""Window of rates: Grafana makes it at least four scrapes."""


@dataclass(frozen=True)
class Query:
    """One PromQL query and how its series are named."""

    expr: str
    legend: str = ""
    table: bool = False
    """Show the newest value as a row instead of a line."""


@dataclass(frozen=True)
class Step:
    """A colour from a value on; the first step has no value."""

    color: str
    value: float | None = None


OK_BAD = (Step("green"), Step("red", 1.0))
BAD_OK = (Step("red"), Step("green", 1.0))


@dataclass(frozen=True)
class Question:
    """One panel and the question it answers; `kind` is one of timeseries stat table state heatmap.

    The queries of a heat map give one series a band, from the lowest up: what they are named is
    the band's name on the vertical axis, what they say its colour.
    """

    title: str
    queries: Sequence[Query]
    about: str
    kind: str = "timeseries"
    unit: str = "short"
    width: int = 12
    height: int = 8
    steps: Sequence[Step] = (Step("green"),)
    hidden: Sequence[str] = ()
    """Columns of a table that say nothing to a person."""


@dataclass(frozen=True)
class Variable:
    """A drop-down above the board, filled by a label of a metric."""

    name: str
    label: str
    query: str
    several: bool = True


@dataclass(frozen=True)
class Row:
    """A titled row of panels."""

    title: str
    panels: Sequence[Question]


@dataclass(frozen=True)
class Board:
    """One dashboard."""

    uid: str
    title: str
    about: str
    rows: Sequence[Row]
    variables: Sequence[Variable] = ()
    links: Sequence[str] = field(default_factory=tuple)

    def to_json(self) -> dict[str, Any]:
        """Return the dashboard as Grafana reads it."""
        dashboard = Dashboard(
            title=self.title,
            description=self.about,
            uid=self.uid,
            tags=["fabrichealth"],
            timezone="browser",
            refresh="30s",
            time=Time("now-6h", "now"),
            sharedCrosshair=True,
            schemaVersion=SCHEMA_VERSION,
            editable=False,
            templating=Templating(list=[_datasource(), *map(_variable, self.variables)]),
            panels=_laid_out(self.rows),
        )
        plain: dict[str, Any] = json.loads(json.dumps(dashboard, default=_plain))
        plain["panels"] = [_modern(panel) for panel in plain["panels"]]
        plain["links"] = [
            {
                "type": "dashboards",
                "tags": ["fabrichealth"],
                "title": "fabrichealth",
                "asDropdown": True,
                "includeVars": True,
                "keepTime": True,
            }
        ]
        return plain


def _plain(part: Panel) -> dict[str, Any]:
    """Return a part of grafanalib as plain values; json asks for each in turn."""
    return part.to_json_data()


_OF_OLD_GRAFANAS = frozenset(
    {"cacheTimeout", "editable", "error", "height", "hideTimeOverride", "isNew", "maxPerRow"}
    | {"minSpan", "span", "timeFrom", "timeShift", "renderer", "steppedLine", "links"}
)


def _modern(panel: dict[str, Any]) -> dict[str, Any]:
    """Drop what Grafana stopped reading, and write thresholds as its schema has them."""
    kept = {
        key: value
        for key, value in panel.items()
        if value is not None and key not in _OF_OLD_GRAFANAS
    }
    for target in kept.get("targets", ()):
        for key in ("intervalFactor", "metric", "query", "step", "target", "interval"):
            target.pop(key, None)
    defaults = kept.get("fieldConfig", {}).get("defaults", {})
    steps = defaults.get("thresholds", {}).get("steps", [])
    for index, step in enumerate(steps):
        steps[index] = {"color": step["color"], "value": step["value"] if index else None}
    for key in [key for key, value in defaults.items() if value is None]:
        del defaults[key]
    return kept


def _datasource() -> Template:
    return Template(name="datasource", label="Data source", type="datasource", query="prometheus")


def _variable(one: Variable) -> Template:
    return Template(
        name=one.name,
        label=one.label,
        query=one.query,
        dataSource=SOURCE,
        includeAll=one.several,
        multi=one.several,
        default="All" if one.several else None,
        allValue=".*" if one.several else None,
        refresh=2,
        sort=1,
    )


def _laid_out(rows: Sequence[Row]) -> list[Panel]:
    """Return the panels with ids and places: left to right, row under row."""
    found: list[Panel] = []
    number, top = 1, 0
    for row in rows:
        found.append(RowPanel(title=row.title, id=number, gridPos=GridPos(1, WIDTH, 0, top)))
        number, top = number + 1, top + 1
        left, deep = 0, 0
        for panel in row.panels:
            if left + panel.width > WIDTH:
                left, top, deep = 0, top + deep, 0
            found.append(_panel(panel, number, GridPos(panel.height, panel.width, left, top)))
            number, left, deep = number + 1, left + panel.width, max(deep, panel.height)
        top += deep
    return found


_KINDS = {"timeseries": TimeSeries, "stat": Stat, "table": Table, "state": StateTimeline}


def _panel(one: Question, number: int, place: GridPos) -> Panel:
    common = {
        "title": one.title,
        "description": one.about,
        "dataSource": SOURCE,
        "id": number,
        "gridPos": place,
        "targets": [
            Target(
                expr=query.expr,
                legendFormat=query.legend or "__auto",
                refId=chr(ord("A") + index),
                instant=query.table,
                format="table" if query.table else "time_series",
                datasource=SOURCE,
            )
            for index, query in enumerate(one.queries)
        ],
    }
    steps = [
        Threshold(color=step.color, index=index, value=0.0 if step.value is None else step.value)
        for index, step in enumerate(one.steps)
    ]
    if one.kind == "timeseries":
        return TimeSeries(**common, unit=one.unit, fillOpacity=8, showPoints="never")
    if one.kind == "stat":
        return Stat(**common, format=one.unit, thresholds=steps, reduceCalc="lastNotNull")
    if one.kind == "table":
        return Table(**common, thresholds=steps, transformations=_columns(one))
    if one.kind == "heatmap":
        return _HeatMap(**common, extraJson=_bands(one))
    return StateTimeline(**common, thresholds=steps)


class _HeatMap(Panel):
    """Grafana's own heat map; grafanalib's is of the Grafanas before 9."""

    def to_json_data(self) -> dict[str, Any]:
        """Return it as plain values."""
        plain: dict[str, Any] = self.panel_json({"type": "heatmap"})
        return plain


def _bands(one: Question) -> dict[str, Any]:
    """Return what makes a heat map of series that are bands already."""
    return {
        "fieldConfig": {"defaults": {"unit": one.unit}},
        "options": {
            "calculate": False,
            "cellGap": 0,
            "cellValues": {"unit": one.unit},
            "color": {"mode": "scheme", "scheme": "Turbo", "steps": 64},
            "filterValues": {"le": 0.5},
            "legend": {"show": True},
            "rowsFrame": {"layout": "auto"},
            "tooltip": {"mode": "single", "yHistogram": False},
            "yAxis": {"axisPlacement": "left"},
        },
    }


def _columns(one: Question) -> list[dict[str, Any]]:
    hidden = dict.fromkeys(("Time", "__name__", "job", "instance", *one.hidden), True)
    return [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": hidden}},
    ]
