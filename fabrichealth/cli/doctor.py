"""`doctor`: what of the installation is wrong."""

import argparse
import importlib
import importlib.metadata
import importlib.util
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from fabrichealth import __version__
from fabrichealth.cli import _terminal
from fabrichealth.cli._command import AGAINST, WELL, Command
from fabrichealth.plugins import names

OURS = ("fabrichealth", "collectors", "analyzer", "dashboards", "alerts", "emulator")
ROOMS = ("collectors.sources", "analyzer.detectors", "alerts.rules", "dashboards.boards")
OLDEST_SQLITE = (3, 35, 0)


class Doctor(Command):
    """Looks for what would make the product misbehave."""

    help = "say what of the installation is wrong"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """It takes none."""

    def run(self, asked: argparse.Namespace) -> int:
        """Look, and say."""
        faults = [*_shadowed(), *_missing(), *_broken(), *_sqlite()]
        for fault in faults:
            _terminal.say(f"wrong: {fault}")
        if faults:
            _terminal.warn(f"{len(faults)} things are wrong with this installation")
        else:
            _terminal.say(
                f"well: fabrichealth {__version__}, Python {sys.version.split()[0]}, "
                f"SQLite {sqlite3.sqlite_version}"
            )
            for room in ROOMS:
                _terminal.say(f"  {room}: {', '.join(names(room))}")
        return AGAINST if faults else WELL


def _shadowed() -> Iterator[str]:
    """Yield packages of ours that another installation hides: top-level names are common."""
    home = Path(__file__).parents[2].resolve()
    for name in OURS:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            yield f"package {name} is missing; install fabrichealth again"
        elif Path(spec.origin).resolve().parents[1] != home:
            yield f"package {name} comes from {spec.origin}; give the daemon its own environment"


def _missing() -> Iterator[str]:
    """Yield libraries that the installation asks for and does not have."""
    try:
        wanted = importlib.metadata.requires("fabrichealth") or []
    except importlib.metadata.PackageNotFoundError:
        yield "fabrichealth is not installed; run `pip install .` in an environment of its own"
        return
    for line in wanted:
        if "extra ==" in line:
            continue
        name = line.split(";")[0]
        for sign in ("<", ">", "=", "~", "!", "[", " "):
            name = name.split(sign)[0]
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield f"library {name} is missing; run `pip install {name}`"


def _broken() -> Iterator[str]:
    """Yield items of the folders that cannot be imported."""
    for room in ROOMS:
        try:
            found = names(room)
        except ModuleNotFoundError:
            yield f"{room} is missing; {room.partition('.')[0]} is not ours, or not whole"
            continue
        for name in found:
            try:
                importlib.import_module(f"{room}.{name}")
            except Exception as wrong:  # noqa: BLE001 - whatever is wrong with it is the answer
                yield f"{room}.{name} cannot be imported ({type(wrong).__name__}: {wrong})"


def _sqlite() -> Iterator[str]:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        yield f"SQLite {sqlite3.sqlite_version} is older than {'.'.join(map(str, OLDEST_SQLITE))}"
