"""Incidents at a terminal: a table of many, one told whole with its readings drawn."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from fabrichealth import narrative
from fabrichealth.cli._console import cell, quiet, style_of
from fabrichealth.cli._newest import Newest
from fabrichealth.cli._readings import LONGEST, drawn, readings
from fabrichealth.cli._sparkline import levels, sparkline
from fabrichealth.errors import FabricHealthError
from fabrichealth.metric import Kind

SPARK = 16
"""Characters of an incident's sparkline in a table."""

WIDE = 110
"""Columns of a terminal from which a table has room for sparklines."""

MOST_SPARKS = 12
"""Incidents of a table whose readings are asked for: each is a question to the daemon."""

_LABEL = re.compile(r"^(\S+(?: \S+)?)( {2,})(?=\S)")


def incident_table(
    incidents: Sequence[Mapping[str, Any]], width: int, kept: Newest | None = None
) -> Table:
    """Return incidents, in this order; with their readings where there is room and a store."""
    table = Table(box=None, pad_edge=False, expand=True)
    sparks = kept is not None and width >= WIDE
    for name in ("", "ID", "KIND", "OPENED"):
        table.add_column(name, no_wrap=True)
    if sparks:
        table.add_column("READINGS", no_wrap=True, width=SPARK)
    table.add_column("WHAT", ratio=1, overflow="fold")
    for place, one in enumerate(incidents):
        row = [
            cell(one["severity"].upper(), style_of(one)),
            cell(one["incident"], "bold"),
            cell(one["kind"]),
            cell(narrative.moment(one["opened_at"])[5:16]),
        ]
        if sparks and kept is not None:
            row.append(Text(_spark(one, kept) if place < MOST_SPARKS else ""))
        table.add_row(*row, what(one))
    return table


def what(incident: Mapping[str, Any]) -> Text:
    """Return culprit, state and sentence of an incident in one line."""
    headline = narrative.headline(incident)
    culprit = f"{incident['culprit']['type']} {incident['culprit']['id']}"
    rest = headline[headline.index(culprit) + len(culprit) :]
    dim = "dim" if incident["closed_at"] is not None or quiet(incident) else ""
    return Text.assemble(cell(culprit, f"bold {dim}".strip()), cell(rest, dim))


def _spark(incident: Mapping[str, Any], kept: Newest) -> str:
    """Return the first reading of an incident that can be drawn; readings are no must."""
    try:
        found = readings(incident, kept, most=1)
    except FabricHealthError:
        return ""
    for one in found:
        if len(one.at):
            span = max(float(one.at[0]) - 1e-3, float(one.at[-1]) - LONGEST), float(one.at[-1])
            counter = one.metric.kind is Kind.COUNTER
            shades = levels()
            return sparkline(one.at, one.values, span, SPARK, counter=counter, shades=shades).drawn
    return ""


def story_text(story: str, incident: Mapping[str, Any]) -> Text:
    """Return what `explain` tells, its first words of a line set off."""
    text = Text()
    for number, line in enumerate(story.split("\n")):
        if number == 0:
            text.append_text(cell(line, f"bold {style_of(incident)}".strip()))
        elif found := _LABEL.match(line):
            text.append_text(cell(line[: found.end()], "cyan"))
            text.append_text(cell(line[found.end() :]))
        else:
            text.append_text(cell(line))
        text.append("\n")
    text.rstrip()
    return text


def readings_lines(incident: Mapping[str, Any], kept: Newest, width: int) -> list[str]:
    """Return the readings of an incident as lines; why there are none, where they cannot be had."""
    try:
        return list(drawn(readings(incident, kept), width))
    except FabricHealthError as wrong:
        return [f"not to be had: {wrong}"]
