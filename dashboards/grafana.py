"""Grafana: a board as its current schema has it; grafanalib stands behind, and only here.

Panels are laid out left to right, so they can neither overlap nor leave the page; ids are numbered
here, so they cannot clash. The data source is a variable: a board works on any engine that speaks
its language. grafanalib gives dashboard, targets, variables and places; how panels look is
`looks`': grafanalib's own are of Grafanas before 9 (decision 19).
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from grafanalib.core import (
    Dashboard,
    GridPos,
    Panel,
    RowPanel,
    Target,
    Template,
    Templating,
    Time,
)

from dashboards.board import WIDTH, Board, Query, Question, Row, Variable
from dashboards.looks import look
from fabrichealth.catalogue.verdicts import EVENT_ACTIVE, INCIDENT_INFO

SCHEMA_VERSION = 41
"""Grafana 11 and 12 write 41; older Grafanas migrate upwards only."""

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
TAG = "fabrichealth"

Plain = dict[str, Any]


def dashboard(board: Board, others: Iterable[Board] = ()) -> Plain:
    """Return a board as Grafana reads it; its series lead to the others that open on them."""
    leads = [other for other in others if other.opens_on and other.uid != board.uid]
    whole = Dashboard(
        title=board.title,
        description=board.about,
        uid=board.uid,
        tags=[TAG],
        timezone="browser",
        refresh="30s",
        time=Time("now-6h", "now"),
        schemaVersion=SCHEMA_VERSION,
        templating=Templating(list=[_datasource(), *map(_variable, board.variables)]),
        panels=_laid_out(board.rows, leads),
    )
    plain: Plain = json.loads(json.dumps(whole, default=_plain))
    plain = {key: value for key, value in plain.items() if key in _OF_A_BOARD}
    plain["panels"] = [_modern(panel) for panel in plain["panels"]]
    plain["templating"]["list"] = [_current(one) for one in plain["templating"]["list"]]
    plain["annotations"] = {"list": _annotations()}
    plain["graphTooltip"] = 1  # one cross-hair through all panels
    plain["links"] = [_to_all()]
    return plain


def _plain(part: Panel) -> Plain:
    """Return a part of grafanalib as plain values; json asks for each in turn."""
    return part.to_json_data()


_OF_A_BOARD = frozenset(
    {"title", "description", "uid", "tags", "timezone", "refresh", "time", "schemaVersion"}
    | {"templating", "panels"}
)
_OF_A_PANEL = frozenset(
    {"id", "title", "description", "type", "gridPos", "datasource", "targets", "options"}
    | {"fieldConfig", "transformations", "collapsed", "panels"}
)
_OF_A_ROW = frozenset({"id", "type", "title", "gridPos", "collapsed", "panels"})
_OF_QUERIES = frozenset({"datasource", "targets", "description", "fieldConfig"})
_OF_A_TARGET = frozenset({"refId", "expr", "legendFormat", "instant", "format", "datasource"})
_OF_A_VARIABLE = frozenset(
    {"name", "label", "type", "query", "datasource", "includeAll", "multi", "allValue", "refresh"}
    | {"sort", "current", "hide"}
)


def _modern(panel: Plain) -> Plain:
    """Drop what Grafana stopped reading."""
    kept = {k: v for k, v in panel.items() if k in _OF_A_PANEL and v is not None}
    if "targets" in kept:
        kept["targets"] = [
            {k: v for k, v in target.items() if k in _OF_A_TARGET} for target in kept["targets"]
        ]
    if kept["type"] == "row":
        return {k: v for k, v in kept.items() if k in _OF_A_ROW}
    if kept["type"] == "text":
        return {k: v for k, v in kept.items() if k not in _OF_QUERIES}
    return kept


def _current(variable: Plain) -> Plain:
    kept = {k: v for k, v in variable.items() if k in _OF_A_VARIABLE and v is not None}
    every = kept.get("includeAll")
    return kept | {"current": {"text": "All", "value": "$__all"} if every else {}}


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
        allValue=".*" if one.several else None,
        refresh=2,
        sort=1,
    )


def _annotations() -> list[Plain]:
    """Return what is drawn across all panels: incidents that page or need a ticket, and events."""
    incidents = f'max by (incident, kind, culprit) ({INCIDENT_INFO}{{severity=~"page|ticket"}})'
    return [
        _annotation("Incidents", incidents, "{{kind}}", "{{culprit}} ({{incident}})", "red"),
        _annotation("Events", str(EVENT_ACTIVE), "{{kind}}", "{{scope}} {{note}}", "blue"),
    ]


def _annotation(name: str, expr: str, title: str, text: str, color: str) -> Plain:
    return {
        "name": name,
        "enable": True,
        "iconColor": color,
        "datasource": SOURCE,
        "target": {"refId": "Anno", "expr": expr, "interval": "60s"},
        "titleFormat": title,
        "textFormat": text,
    }


def _to_all() -> Plain:
    return {
        "type": "dashboards",
        "tags": [TAG],
        "title": TAG,
        "asDropdown": True,
        "includeVars": True,
        "keepTime": True,
        "icon": "external link",
        "targetBlank": False,
        "tooltip": "",
        "url": "",
    }


def _laid_out(rows: Sequence[Row], leads: Sequence[Board]) -> list[Panel]:
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
            place = GridPos(panel.height, panel.width, left, top)
            found.append(_panel(panel, number, place, leads))
            number, left, deep = number + 1, left + panel.width, max(deep, panel.height)
        top += deep
    return found


class _Panel(Panel):
    """A panel whose look comes whole, by `extraJson`."""

    def to_json_data(self) -> Plain:
        """Return it as plain values."""
        plain: Plain = self.panel_json({})
        return plain


def _panel(one: Question, number: int, place: GridPos, leads: Sequence[Board]) -> Panel:
    looks = look(one)
    links = [_lead(board, one) for board in leads if frozenset(board.opens_on) <= one.labels]
    if links and "fieldConfig" in looks:
        looks["fieldConfig"]["defaults"]["links"] = links
    return _Panel(
        title=one.title,
        description=one.about,
        dataSource=SOURCE,
        id=number,
        gridPos=place,
        targets=[_target(query, chr(ord("A") + n)) for n, query in enumerate(one.queries)],
        extraJson=looks,
    )


def _target(query: Query, letter: str) -> Target:
    return Target(
        expr=query.expr,
        legendFormat=query.legend or "__auto",
        refId=letter,
        instant=query.table,
        format="table" if query.table else "time_series",
        datasource=SOURCE,
    )


def _lead(board: Board, one: Question) -> Plain:
    """Return the link from a series or row to the board that opens on its labels."""
    of = "__data.fields" if any(query.table for query in one.queries) else "__field.labels"
    chosen = "&".join(f"var-{label}=${{{of}.{label}:percentencode}}" for label in board.opens_on)
    return {
        "title": board.title.removeprefix("Fabric health / ").capitalize(),
        "url": f"/d/{board.uid}?{chosen}&${{__url_time_range}}&var-datasource=${{datasource}}",
        "targetBlank": False,
    }
