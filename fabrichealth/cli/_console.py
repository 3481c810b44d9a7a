"""Colours and tables at a terminal; a pipe and a dumb terminal get plain lines."""

import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from fabrichealth.cli import _terminal

STYLES = {"page": "bold red", "ticket": "yellow", "watch": "cyan", "info": "dim"}
"""How severities look; the word itself is always there as well."""


def console() -> Console:
    """Return standard output as something to draw on; heeds NO_COLOR."""
    return Console(highlight=False, markup=False, emoji=False)


def draws() -> bool:
    """Return whether standard output is a terminal that can be drawn on."""
    return sys.stdout.isatty() and not console().is_dumb_terminal


def show(drawn: RenderableType) -> None:
    """Print a table or styled text."""
    console().print(drawn)


def cell(text: str, style: str = "") -> Text:
    """Return styled text for one line, without what would act on a terminal or break the line."""
    return Text(_terminal.cell(text), style=style)


def style_of(incident: Mapping[str, Any]) -> str:
    """Return how an incident's severity looks; what nobody is told of is dim."""
    if incident["closed_at"] is not None or quiet(incident):
        return "dim"
    return STYLES.get(incident["severity"], "")


def quiet(incident: Mapping[str, Any]) -> bool:
    """Return whether nobody is told of an incident: it is suppressed, or a person said so."""
    return bool(incident["suppressed_by"] or (incident.get("operator") or {}).get("silent"))
