"""`explain INCIDENT|DOMAIN`: one incident, or what holds a domain back, told whole."""

import argparse
from collections.abc import Mapping
from typing import Any

from fabrichealth import narrative
from fabrichealth.catalogue.verdicts import DOMAIN_MISSING
from fabrichealth.cli import _domain_story, _terminal
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._console import cell, console, draws, show
from fabrichealth.cli._incident_tables import readings_lines, story_text
from fabrichealth.cli._incidents import arguments, incidents
from fabrichealth.cli._newest import newest
from fabrichealth.cli._site import load
from fabrichealth.errors import FabricHealthError, SourceUnavailable, UsageError


class Explain(Command):
    """Tells an incident, or a domain, in under 40 lines."""

    help = "tell one incident whole, or what holds a domain back"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare which incident or domain, and where to look."""
        parser.add_argument("incident", help="its id, such as i7; or the name of a domain")
        arguments(parser)
        parser.add_argument("--json", action="store_true", help="the object itself")

    def run(self, asked: argparse.Namespace) -> int:
        """Tell it."""
        found = incidents(asked)
        for one in found:
            if one["incident"] == asked.incident:
                if asked.json:
                    _terminal.tell(one)
                elif draws():
                    _drawn(asked, one)
                else:
                    _terminal.say(narrative.story(one))
                return WELL
        return self._domain(asked, found)

    def _domain(self, asked: argparse.Namespace, found: list[dict[str, object]]) -> int:
        domains: list[str] = []
        try:
            with newest(asked) as values:
                now = _domain_story.domain_now(asked.incident, values, found)
                if now is None:
                    domains = sorted({one.labels["domain"] for one in values.of(DOMAIN_MISSING)})
        except FabricHealthError:
            now = None  # no series are kept, so nothing is known of any domain
        if now is None:
            if _written(asked):
                raise SourceUnavailable(
                    f"domain {asked.incident}: nothing is told of it yet; `run` judges it, and "
                    "`check --probe` says what can be read"
                )
            known = ", ".join(str(one["incident"]) for one in found[-8:]) or "none"
            also = f"; domains: {', '.join(domains)}" if domains else ""
            raise UsageError(f"no incident {asked.incident}; the newest are: {known}{also}")
        if asked.json:
            _terminal.tell(now.to_json())
        else:
            _terminal.say(_domain_story.story(now))
        return WELL


def _drawn(asked: argparse.Namespace, incident: Mapping[str, Any]) -> None:
    """Tell an incident at a terminal, its readings drawn below."""
    show(story_text(narrative.story(incident), incident))
    try:
        with newest(asked) as kept:
            lines = readings_lines(incident, kept, console().width - 2)
    except FabricHealthError as wrong:
        lines = [f"not to be had: {wrong}"]
    if lines:
        show(cell("readings   since shortly before it opened", "cyan"))
    for line in lines:
        show(cell(f"  {line}"))


def _written(asked: argparse.Namespace) -> bool:
    """Return whether what is asked for is a domain of the site's own topology."""
    return asked.config is not None and asked.incident in load(asked.config).topology.domains
