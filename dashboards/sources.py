"""How Grafana asks a data source: targets, drop-downs and annotations in the source's language."""

import re
from dataclasses import replace
from typing import Any, ClassVar, Protocol

from dashboards.board import Query, Question, Variable
from dashboards.check import VARIABLES, substituted
from dashboards.influxql import Untranslatable, is_of_the_most, newest, over_time
from dashboards.promql import parsed
from fabrichealth.catalogue.verdicts import EVENT_ACTIVE, INCIDENT_INFO
from fabrichealth.store.remote.line_protocol import MEASUREMENT

Plain = dict[str, Any]

UID = "${datasource}"


class Source(Protocol):
    """A kind of data source."""

    kind: ClassVar[str]
    """Grafana's name of it."""

    def asks(self, one: Question) -> Question:
        """Return the panel as it can be asked.

        Raises:
            Untranslatable: it cannot.
        """
        ...

    def target(self, query: Query, letter: str) -> Plain:
        """Return a query of a panel."""
        ...

    def drop_down(self, one: Variable) -> str:
        """Return the query that fills a drop-down."""
        ...

    def annotations(self) -> list[Plain]:
        """Return what is drawn across all panels: incidents that need somebody, and events."""
        ...


class Prometheus:
    """Anything that speaks PromQL."""

    kind: ClassVar[str] = "prometheus"

    def asks(self, one: Question) -> Question:
        """Return the panel as it is."""
        return one

    def target(self, query: Query, letter: str) -> Plain:
        """Return a query of a panel."""
        return {
            "refId": letter,
            "datasource": {"type": self.kind, "uid": UID},
            "expr": query.expr,
            "legendFormat": query.legend or "__auto",
            "instant": query.table,
            "format": "table" if query.table else "time_series",
        }

    def drop_down(self, one: Variable) -> str:
        """Return the query that fills a drop-down."""
        return one.query

    def annotations(self) -> list[Plain]:
        """Return incidents that page or need a ticket, and events."""
        incidents = f'max by (incident, kind, culprit) ({INCIDENT_INFO}{{severity=~"page|ticket"}})'
        return [
            self._annotation("Incidents", incidents, "{{kind}}", "{{culprit}} ({{incident}})"),
            self._annotation("Events", str(EVENT_ACTIVE), "{{kind}}", "{{scope}} {{note}}"),
        ]

    def _annotation(self, name: str, expr: str, title: str, text: str) -> Plain:
        return {
            "name": name,
            "datasource": {"type": self.kind, "uid": UID},
            "target": {"refId": "Anno", "expr": expr, "interval": "60s"},
            "titleFormat": title,
            "textFormat": text,
        }


class Influx:
    """InfluxDB by InfluxQL: version 1, and 3 by its compatible API."""

    kind: ClassVar[str] = "influxdb"

    def asks(self, one: Question) -> Question:
        """Return the panel; the largest few over time become rows of now.

        Raises:
            Untranslatable: one of its queries asks for what InfluxQL does not have.
        """
        if one.kind == "nodegraph":
            raise Untranslatable("a graph of nodes")
        rows = [not query.table and is_of_the_most(query.tree) for query in one.queries]
        if any(rows):
            queries = [replace(query, table=True) for query in one.queries]
            one = replace(one, kind="table", queries=queries, unit=one.unit_of(queries[0]))
        for query in one.queries:
            self._said(query)
        return one

    def target(self, query: Query, letter: str) -> Plain:
        """Return a query of a panel."""
        return {
            "refId": letter,
            "datasource": {"type": self.kind, "uid": UID},
            "query": self._said(query),
            "rawQuery": True,
            "resultFormat": "table" if query.table else "time_series",
            "alias": re.sub(r"\{\{(\w+)\}\}", r"$tag_\1", query.legend),
        }

    def _said(self, query: Query) -> str:
        """Return the statement; the board's own variables stay in it for Grafana to fill."""
        named = re.findall(r"\$\{?([A-Za-z_]\w*)", query.expr)
        own = {name: f"${name}" for name in named if name not in VARIABLES}
        tree = parsed(substituted(query.expr, own))
        return newest(tree) if query.table else over_time(tree)

    def drop_down(self, one: Variable) -> str:
        """Return the query that fills a drop-down."""
        found = re.fullmatch(r"label_values\(.*,\s*(\w+)\)", one.query)
        if found is None:
            raise Untranslatable(f"{one.query} fills no drop-down")
        narrowed = [
            f'"{label}" =~ /^(?:{value})$/'
            for label, value in re.findall(r'(\w+)=~"(\$\w+)"', one.query)
        ]
        where = f" WHERE {' AND '.join(narrowed)}" if narrowed else ""
        return f'SHOW TAG VALUES FROM "{MEASUREMENT}" WITH KEY = "{found[1]}"{where}'

    def annotations(self) -> list[Plain]:
        """Return incidents that page or need a ticket, and events."""
        serious = '"severity" =~ /^(?:page|ticket)$/'
        return [
            self._annotation("Incidents", INCIDENT_INFO.name, "culprit", "kind,incident", serious),
            self._annotation("Events", EVENT_ACTIVE.name, "scope", "kind,note", ""),
        ]

    def _annotation(self, name: str, field: str, text: str, tags: str, only: str) -> Plain:
        columns = ", ".join(f'"{column}"' for column in (field, text, *tags.split(",")))
        where = " AND ".join(filter(None, [only, "$timeFilter"]))
        return {
            "name": name,
            "datasource": {"type": self.kind, "uid": UID},
            "target": {
                "refId": "Anno",
                "query": f'SELECT {columns} FROM "{MEASUREMENT}" WHERE {where}',
                "rawQuery": True,
                "textColumn": text,
                "tagsColumn": tags,
            },
        }
