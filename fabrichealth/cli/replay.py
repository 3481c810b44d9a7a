"""`replay HISTORY... --topology T`: the analyzer on recorded telemetry."""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from analyzer.incidents.lifecycle import Policy
from analyzer.judge import detectors
from analyzer.replaying import Replay
from fabrichealth import narrative
from fabrichealth.cli import _terminal
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._events import read_events
from fabrichealth.cli._judged import policy_of as judged_by
from fabrichealth.cli._site import load
from fabrichealth.config import Site
from fabrichealth.errors import UsageError
from fabrichealth.history import read as read_history
from fabrichealth.model import Incident
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Topology
from fabrichealth.topology import read as read_topology


class ReplayCommand(Command):
    """Judges histories as if they happened now."""

    help = "judge recorded telemetry; prints each incident when it closes"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare histories, topology, events and settings."""
        parser.add_argument("history", nargs="+", type=Path, help="JSON lines, or OpenMetrics")
        parser.add_argument("--topology", type=Path, help="topology file")
        parser.add_argument("--events", type=Path, help="events as JSON lines")
        parser.add_argument("--config", type=Path, help="site file, for detectors and policy")
        parser.add_argument("--json", action="store_true", help="one JSON object per incident")

    def run(self, asked: argparse.Namespace) -> int:
        """Replay and print."""
        site: Site | None = load(asked.config).site if asked.config else None
        for path in asked.history:
            if not path.exists():
                raise UsageError(f"{path}: no such history")
        topology = read_topology(asked.topology) if asked.topology else Topology()
        if asked.topology is None and asked.config:
            topology = load(asked.config).topology
        events = read_events(asked.events) if asked.events else []
        with tempfile.TemporaryDirectory(prefix="fabrichealth-replay-") as folder:
            store = EmbeddedStore.open(Path(folder) / "history.db")
            try:
                report = read_history(asked.history, store)
                for line in report.warnings:
                    _terminal.warn(line)
                play = Replay(
                    store,
                    topology,
                    detectors(site.detectors if site else None),
                    events,
                    policy_of(site),
                    site.policy.judge_every if site else 10.0,
                )
                for incident in play.run():
                    _show(incident, asked.json)
            finally:
                store.close()
        return WELL


def policy_of(site: Site | None) -> Policy:
    """Return what a site decides about incidents, or the defaults."""
    return judged_by(site.policy) if site else Policy()


def _show(incident: Incident, json: bool) -> None:
    plain: dict[str, Any] = incident.to_json()
    if json:
        _terminal.tell(plain)
    else:
        _terminal.say(narrative.story(plain) + "\n")
