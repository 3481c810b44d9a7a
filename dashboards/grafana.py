"""Grafana: a board as its current schema has it; grafanalib stands behind, and only here.

Panels are laid out left to right, so they can neither overlap nor leave the page; ids are numbered
here, so they cannot clash. The data source is a variable: a board works on any engine that speaks
its language. grafanalib gives dashboard, variables, grid and places; how panels look is
`looks`': grafanalib's own are of Grafanas before 9 (decision 19).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grafanalib.core import (
    Dashboard,
    GridPos,
    Panel,
    RowPanel,
    Template,
    Templating,
    Time,
)

from dashboards.board import WIDTH, Board, Question, Row, Variable
from dashboards.influxql import Untranslatable
from dashboards.looks import look
from dashboards.sources import UID, Prometheus, Source

SCHEMA_VERSION = 41
"""Grafana 11 and 12 write 41; older Grafanas migrate upwards only."""

TAG = "fabrichealth"

Plain = dict[str, Any]


def dashboard(board: Board, others: Iterable[Board] = (), source: Source | None = None) -> Plain:
    """Return a board as Grafana reads it; its series lead to the others that open on them.

    What the source cannot be asked is left out, and said at the foot.
    """
    asks = source or Prometheus()
    leads = [other for other in others if other.opens_on and other.uid != board.uid]
    rows, lost = _asked(board.rows, asks)
    whole = Dashboard(
        title=board.title,
        description=board.about,
        uid=board.uid,
        tags=[TAG],
        timezone="browser",
        refresh="30s",
        time=Time("now-6h", "now"),
        schemaVersion=SCHEMA_VERSION,
        templating=Templating(
            list=[_datasource(asks), *(_variable(one, asks) for one in board.variables)]
        ),
        panels=_laid_out([*rows, *_foot(lost)], leads, asks),
    )
    plain: Plain = json.loads(json.dumps(whole, default=_plain))
    plain = {key: value for key, value in plain.items() if key in _OF_A_BOARD}
    plain["panels"] = [_modern(panel) for panel in plain["panels"]]
    plain["templating"]["list"] = [_current(one) for one in plain["templating"]["list"]]
    colors = ("red", "blue")
    plain["annotations"] = {
        "list": [
            {**one, "enable": True, "iconColor": color}
            for one, color in zip(asks.annotations(), colors, strict=True)
        ]
    }
    plain["graphTooltip"] = 1  # one cross-hair through all panels
    plain["links"] = [_to_all()]
    return plain


def _asked(rows: Sequence[Row], source: Source) -> tuple[list[Row], dict[str, str]]:
    """Return the rows as the source can be asked, and why the others are left out, by title."""
    kept: list[Row] = []
    lost: dict[str, str] = {}
    for row in rows:
        panels = []
        for panel in row.panels:
            try:
                panels.append(source.asks(panel))
            except Untranslatable as why:
                lost[f"{row.title}: {panel.title}"] = str(why)
        if panels:
            kept.append(Row(row.title, panels))
    return kept, lost


def _foot(lost: Mapping[str, str]) -> list[Row]:
    if not lost:
        return []
    lines = "\n".join(f"- {title} ({why})" for title, why in lost.items())
    about = f"This source's language cannot ask for:\n\n{lines}"
    height = 4 + len(lost)
    text = Question("Left out", [], about, kind="text", width=WIDTH, height=height)
    return [Row("Left out", [text])]


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
_OF_A_VARIABLE = frozenset(
    {"name", "label", "type", "query", "datasource", "includeAll", "multi", "allValue", "refresh"}
    | {"sort", "current", "hide"}
)


def _modern(panel: Plain) -> Plain:
    """Drop what Grafana stopped reading."""
    kept = {k: v for k, v in panel.items() if k in _OF_A_PANEL and v is not None}
    if kept["type"] == "row":
        return {k: v for k, v in kept.items() if k in _OF_A_ROW}
    if kept["type"] == "text":
        return {k: v for k, v in kept.items() if k not in _OF_QUERIES}
    return kept


def _current(variable: Plain) -> Plain:
    kept = {k: v for k, v in variable.items() if k in _OF_A_VARIABLE and v is not None}
    every = kept.get("includeAll")
    return kept | {"current": {"text": "All", "value": "$__all"} if every else {}}


def _datasource(source: Source) -> Template:
    return Template(name="datasource", label="Data source", type="datasource", query=source.kind)


def _variable(one: Variable, source: Source) -> Template:
    return Template(
        name=one.name,
        label=one.label,
        query=source.drop_down(one),
        dataSource={"type": source.kind, "uid": UID},
        includeAll=one.several,
        multi=one.several,
        allValue=".*" if one.several else None,
        refresh=2,
        sort=1,
    )


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


def _laid_out(rows: Sequence[Row], leads: Sequence[Board], source: Source) -> list[Panel]:
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
            found.append(_panel(panel, number, place, leads, source))
            number, left, deep = number + 1, left + panel.width, max(deep, panel.height)
        top += deep
    return found


class _Panel(Panel):
    """A panel whose look comes whole, by `extraJson`."""

    def to_json_data(self) -> Plain:
        """Return it as plain values."""
        plain: Plain = self.panel_json({})
        return plain


def _panel(
    one: Question, number: int, place: GridPos, leads: Sequence[Board], source: Source
) -> Panel:
    looks = look(one)
    links = [_lead(board, one) for board in leads if frozenset(board.opens_on) <= one.labels]
    if links and "fieldConfig" in looks:
        looks["fieldConfig"]["defaults"]["links"] = links
    return _Panel(
        title=one.title,
        description=one.about,
        dataSource={"type": source.kind, "uid": UID},
        id=number,
        gridPos=place,
        targets=[source.target(query, chr(ord("A") + n)) for n, query in enumerate(one.queries)],
        extraJson=looks,
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
