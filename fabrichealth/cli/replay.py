"""`replay HISTORY... --topology T`: the analyzer on recorded telemetry.

`replay FOLDER` takes what tools printed (ethtool, mlxlink, the InfiniBand tools, hccn_tool,
nvidia-smi, dmesg ..) at one or several moments, and tells one report.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from analyzer.incidents.lifecycle import Policy
from analyzer.judge import detectors
from analyzer.replaying import Replay
from fabrichealth import narrative
from fabrichealth.cli import _bundle_report as bundle_report
from fabrichealth.cli import _terminal
from fabrichealth.cli._bundle import visits
from fabrichealth.cli._bundle_reading import Bundle
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._events import read_events, warn_of_strangers, without_incidents
from fabrichealth.cli._judged import policy_of as judged_by
from fabrichealth.cli._progress import progress
from fabrichealth.cli._site import load
from fabrichealth.config import Site
from fabrichealth.errors import SiteError, UsageError
from fabrichealth.events import Event
from fabrichealth.history import read as read_history
from fabrichealth.model import Incident
from fabrichealth.settings import seconds_of
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import Topology
from fabrichealth.topology import read as read_topology


class ReplayCommand(Command):
    """Judges histories as if they happened now."""

    help = "judge recorded telemetry, or a folder of tools' outputs; prints each incident"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare histories, topology, events and settings."""
        parser.add_argument(
            "history",
            nargs="+",
            type=Path,
            help="JSON lines, OpenMetrics, or a folder of what tools printed",
        )
        parser.add_argument(
            "--interval", metavar="60s", help="of a folder whose moments only count"
        )
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
        events = _events(asked.events, topology) if asked.events else []
        folders = [path for path in asked.history if path.is_dir()]
        if folders:
            if len(asked.history) > 1:
                raise UsageError(f"{folders[0]}: a folder of tools' outputs is replayed alone")
            step = _seconds(asked.interval)
            return tell_bundle(folders[0], topology, events, site, step, json=asked.json)
        if asked.interval:
            raise UsageError("--interval: of a folder of tools' outputs only")
        with tempfile.TemporaryDirectory(prefix="fabrichealth-replay-") as folder:
            store = EmbeddedStore.open(Path(folder) / "history.db")
            try:
                size = sum(path.stat().st_size for path in asked.history)
                with progress("reading", size) as far:
                    report = read_history(asked.history, store, far)
                for line in report.warnings:
                    _terminal.warn(line)
                if not report.samples:
                    names = ", ".join(map(str, asked.history))
                    raise SiteError(f"{names}: no reading in it; nothing can be judged")
                play = Replay(
                    store,
                    topology,
                    detectors(site.detectors if site else None),
                    events,
                    policy_of(site),
                    site.policy.judge_every if site else 10.0,
                )
                with progress("judging", 1.0) as play.told:
                    for incident in play.run():
                        if incident.merged_into is None:
                            _show(incident, asked.json)
            finally:
                store.close()
        return WELL


def _events(path: Path, topology: Topology) -> list[Event]:
    """Read events, but for those of incidents of another run."""
    every = read_events(path)
    events = without_incidents(every)
    if left_out := len(every) - len(events):
        _terminal.warn(f"{path}: {left_out} verdicts and other events of incidents left out; "
                       "a replay numbers its incidents anew")  # fmt: skip
    warn_of_strangers(events, topology, path)
    return events


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else seconds_of(text)
    except ValueError as wrong:
        raise UsageError(f"--interval {wrong}") from None


def tell_bundle(
    folder: Path,
    topology: Topology,
    events: list[Event],
    site: Site | None,
    step: float | None,
    *,
    json: bool,
) -> int:
    """Read a folder of tools' outputs and report what is wrong in it."""
    with tempfile.TemporaryDirectory(prefix="fabrichealth-bundle-") as place:
        store = EmbeddedStore.open(Path(place) / "history.db")
        try:
            bundle = Bundle(store, topology)
            bundle.read(visits(folder), step)
            if not bundle.readings and not bundle.events:
                raise SiteError(f"{folder}: no source knows any file in it; nothing can be judged")
            if len(bundle.moments) == 1:
                bundle.hold_still()
            known = sorted([*events, *bundle.events], key=lambda event: event.at)
            every = detectors(site.detectors if site else None)
            pace = site.policy.judge_every if site else 10.0
            play = Replay(store, topology, every, known, policy_of(site), pace)
            found = [one for one in play.run() if one.merged_into is None]
        finally:
            store.close()
    if json:
        for incident in found:
            _show(incident, json=True)
        _terminal.tell(bundle_report.plain(folder, bundle))
    else:
        _terminal.say(bundle_report.text(folder, bundle, [one.to_json() for one in found]))
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
