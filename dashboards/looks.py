"""Looks: each kind of panel as options and field settings of Grafana's present panel models.

Sources: the panelcfg types of @grafana/schema, against which every generated board is checked.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dashboards.board import Question, Step

Plain = dict[str, Any]

Look = Callable[[Question], Plain]


def look(one: Question) -> Plain:
    """Return a panel's type, options, field settings and transformations.

    Raises:
        KeyError: there is no such kind of panel.
    """
    return _LOOKS[one.kind](one)


def _timeseries(one: Question) -> Plain:
    custom: Plain = {
        "drawStyle": "line",
        "fillOpacity": 8,
        "lineWidth": 1,
        "showPoints": "auto",
        "spanNulls": False,
    }
    if one.logarithmic:
        custom["scaleDistribution"] = {"type": "log", "log": 10}
    if len(one.steps) > 1:
        custom["thresholdsStyle"] = {"mode": "dashed"}
    return {
        "type": "timeseries",
        "fieldConfig": _fields(one, custom=custom, color={"mode": "palette-classic"})
        | {"overrides": _other_units(one)},
        "options": {
            "legend": {
                "displayMode": "list",
                "placement": "bottom",
                "showLegend": True,
                "calcs": [],
            },
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
    }


def _stat(one: Question) -> Plain:
    return {
        "type": "stat",
        "fieldConfig": _fields(one, color={"mode": "thresholds"}),
        "options": {
            "colorMode": "background",
            "graphMode": "none",
            "justifyMode": "auto",
            "orientation": "auto",
            "reduceOptions": _newest(),
            "textMode": "auto",
            "wideLayout": True,
        },
    }


def _table(one: Question) -> Plain:
    renamed = {"Value": one.called} if one.called else {}
    return {
        "type": "table",
        "fieldConfig": _fields(one, custom={"cellOptions": {"type": "auto"}, "filterable": True}),
        "options": {"showHeader": True, "cellHeight": "sm"},
        "transformations": [
            {"id": "merge", "options": {}},
            {"id": "organize", "options": {"excludeByName": _hidden(one), "renameByName": renamed}},
        ],
    }


def _state(one: Question) -> Plain:
    return {
        "type": "state-timeline",
        "fieldConfig": _fields(one, custom={"fillOpacity": 70, "lineWidth": 0}),
        "options": {
            "mergeValues": True,
            "rowHeight": 0.9,
            "showValue": "auto",
            "alignValue": "left",
            "legend": _no_legend(),
            "tooltip": {"mode": "single", "sort": "none"},
        },
    }


def _history(one: Question) -> Plain:
    return {
        "type": "status-history",
        "fieldConfig": _fields(one, custom={"fillOpacity": 70, "lineWidth": 1}),
        "options": {
            "rowHeight": 0.9,
            "colWidth": 0.9,
            "showValue": "never",
            "legend": _no_legend(),
            "tooltip": {"mode": "single", "sort": "none"},
        },
    }


def _heatmap(one: Question) -> Plain:
    """Return a heat map of series that are bands already."""
    return {
        "type": "heatmap",
        "fieldConfig": {"defaults": {"unit": _unit(one)}, "overrides": []},
        "options": {
            "calculate": False,
            "cellGap": 0,
            "cellValues": {"unit": _unit(one)},
            "color": {
                "mode": "scheme",
                "scheme": "Turbo",
                "steps": 64,
                "exponent": 0.5,
                "fill": "dark-orange",
                "reverse": False,
            },
            "exemplars": {"color": "rgba(255,0,255,0.7)"},
            "filterValues": {"le": 0.5},
            "legend": {"show": True},
            "rowsFrame": {"layout": "auto"},
            "tooltip": {"mode": "single", "yHistogram": False, "showColorScale": False},
            "yAxis": {"axisPlacement": "left"},
        },
    }


def _node_graph(one: Question) -> Plain:
    edges, nodes = "Value #A", "Value #B"
    return {
        "type": "nodeGraph",
        "fieldConfig": {"defaults": {"unit": _unit(one)}, "overrides": []},
        "options": {
            "zoomMode": "cooperative",
            "layoutAlgorithm": "layered",
            "nodes": {"mainStatUnit": _unit(one)},
            "edges": {"mainStatUnit": _unit(one)},
        },
        "transformations": [
            {
                "id": "organize",
                "options": {
                    "excludeByName": _hidden(one),
                    "renameByName": {edges: "mainstat", nodes: "mainstat", "Value": "mainstat"},
                },
            },
        ],
    }


def _text(one: Question) -> Plain:
    return {
        "type": "text",
        "options": {
            "mode": "markdown",
            "content": one.about,
            "code": {"language": "plaintext", "showLineNumbers": False, "showMiniMap": False},
        },
    }


_LOOKS: Mapping[str, Look] = {
    "timeseries": _timeseries,
    "stat": _stat,
    "table": _table,
    "state": _state,
    "history": _history,
    "heatmap": _heatmap,
    "nodegraph": _node_graph,
    "text": _text,
}


def _unit(one: Question) -> str:
    return one.unit_of(one.queries[0])


def _fields(one: Question, **more: Any) -> Plain:
    defaults: Plain = {"unit": _unit(one), "thresholds": _thresholds(one.steps), **more}
    if one.names:
        named = {
            str(name.value): {"text": name.text, "color": name.color, "index": index}
            for index, name in enumerate(one.names)
        }
        defaults["mappings"] = [{"type": "value", "options": named}]
    return {"defaults": defaults, "overrides": []}


def _thresholds(steps: Sequence[Step]) -> Plain:
    plain = [{"color": step.color, "value": step.value} for step in steps]
    return {"mode": "absolute", "steps": plain}


def _other_units(one: Question) -> list[Plain]:
    """Return overrides that put series of another unit on the right axis."""
    first = _unit(one)
    return [
        {
            "matcher": {"id": "byFrameRefID", "options": chr(ord("A") + index)},
            "properties": [
                {"id": "unit", "value": one.unit_of(query)},
                {"id": "custom.axisPlacement", "value": "right"},
            ],
        }
        for index, query in enumerate(one.queries)
        if one.unit_of(query) != first
    ]


def _hidden(one: Question) -> Plain:
    """Return the columns of a table that nobody looks at."""
    return dict.fromkeys(("Time", "__name__", "job", "instance", *one.hidden), True)


def _newest() -> Plain:
    return {"calcs": ["lastNotNull"], "fields": "", "values": False}


def _no_legend() -> Plain:
    return {"displayMode": "list", "placement": "bottom", "showLegend": False, "calcs": []}
