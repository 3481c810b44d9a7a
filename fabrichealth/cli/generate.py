"""`generate dashboards|alerts|config|docs [--check]`: the committed artefacts, from the code."""

import argparse
from pathlib import Path

from fabrichealth.cli import _terminal
from fabrichealth.cli._command import AGAINST, WELL, Command
from fabrichealth.cli._sample import files as sample_files
from fabrichealth.errors import FabricHealthError

KINDS = ("dashboards", "alerts", "config", "docs")

REPOSITORY = Path(__file__).parents[2]


class Generate(Command):
    """Writes what is generated, or says what is out of date."""

    help = "write dashboards, rules and runbooks, or the sample configuration"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare what to generate and where."""
        parser.add_argument("what", nargs="?", choices=KINDS, help="default: all")
        parser.add_argument("--check", action="store_true", help="compare only")
        parser.add_argument("--into", type=Path, help="a folder other than the checkout's")

    def run(self, asked: argparse.Namespace) -> int:
        """Write or compare; 1 if anything differs."""
        base = asked.into or REPOSITORY
        stale: list[Path] = []
        for name in [asked.what] if asked.what else KINDS:
            wanted = {base / folder / path: text for folder, path, text in _files(name)}
            stale += _compare(wanted, base, name) if asked.check else _write(wanted)
        for path in stale:
            word = "differs from the code" if asked.check else "written"
            _terminal.say(f"{path.relative_to(base)}: {word}")
        if asked.check and stale:
            raise FabricHealthError(
                f"{len(stale)} generated files differ; run `fabrichealth generate`"
            )
        return AGAINST if asked.check and stale else WELL


def _files(name: str) -> list[tuple[str, str, str]]:
    """Return (folder, path below it, text) of every file of a kind."""
    if name == "dashboards":
        from dashboards.generate import files as found  # noqa: PLC0415 - grafanalib, only here
    elif name == "alerts":
        from alerts.generate import files as found  # noqa: PLC0415
    elif name == "docs":
        from fabrichealth.cli._docs import files as found  # noqa: PLC0415 - imports every item
    else:
        found = sample_files
    folder = "deploy" if name == "config" else name
    return [(folder, path, text) for path, text in found().items()]


def _compare(wanted: dict[Path, str], base: Path, name: str) -> list[Path]:
    stale = [
        path
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    folders = {path.parent for path in wanted}
    left = [
        path
        for folder in folders
        if name != "config" and folder.is_dir()
        for path in folder.iterdir()
        if path.is_file() and path not in wanted
    ]
    return [*stale, *left]


def _write(wanted: dict[Path, str]) -> list[Path]:
    written = []
    for path, text in wanted.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written
