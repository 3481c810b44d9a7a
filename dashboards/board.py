"""Board: rows of panels, each a question with its queries.

What a panel shows is said in PromQL and once: its unit and where its series lead to follow from
the catalogue (`meaning`), its place from the order of the panels, its look in Grafana from its
kind (`grafana`, the one module that knows Grafana's JSON).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dashboards.check import substituted
from dashboards.meaning import Meaning, meaning
from dashboards.promql import Node, parsed

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

    @cached_property
    def tree(self) -> Node:
        """The query with every variable standing for anything.

        Raises:
            ValueError: it is no PromQL.
        """
        return parsed(substituted(self.expr))

    @cached_property
    def meaning(self) -> Meaning:
        """Labels and unit of the answer.

        Raises:
            KeyError: it reads a metric that is not in the catalogue.
        """
        return meaning(self.tree)


@dataclass(frozen=True)
class Step:
    """A colour from a value on; the first step has no value."""

    color: str
    value: float | None = None


OK_BAD = (Step("green"), Step("red", 1.0))
BAD_OK = (Step("red"), Step("green", 1.0))


@dataclass(frozen=True)
class Name:
    """What a value means, in words."""

    value: int
    text: str
    color: str


@dataclass(frozen=True)
class Question:
    """One panel and the question it answers.

    `kind` is one of timeseries stat table state history heatmap nodegraph text.

    The queries of a heat map give one series a band, from the lowest up: what they are named is
    the band's name on the vertical axis, what they say its colour. Those of a node graph are a
    table of edges (`id`, `source`, `target`) and one of nodes (`id`, `title`). A text has none,
    and says what it says in `about`.

    Raises:
        ValueError: a query's unit has no name and the panel gives none.
    """

    title: str
    queries: Sequence[Query]
    about: str
    kind: str = "timeseries"
    unit: str = ""
    """Grafana's name of it; nothing is that of the first query."""
    width: int = 12
    height: int = 8
    steps: Sequence[Step] = (Step("green"),)
    names: Sequence[Name] = ()
    hidden: Sequence[str] = ()
    """Columns of a table that say nothing to a person."""
    logarithmic: bool = False
    called: str = ""
    """Name of the value's column in a table."""

    def __post_init__(self) -> None:
        for query in self.queries:
            if not self.unit and query.meaning.unit is None:
                raise ValueError(f"{self.title}: {query.expr} has no unit of Grafana's; say one")

    @property
    def labels(self) -> frozenset[str]:
        """What every answer of the panel carries."""
        carried = [query.meaning.labels for query in self.queries]
        return frozenset.intersection(*carried) if carried else frozenset()

    def unit_of(self, query: Query) -> str:
        """Return the unit of one of its queries."""
        return self.unit or query.meaning.unit or "short"


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
    opens_on: Sequence[str] = ()
    """Labels, variables of this board: series that carry them lead here from every other board."""
