"""`generate dashboards|alerts|config|docs [--check]`: the committed artefacts, from the code."""

import argparse
from pathlib import Path

from fabrichealth.cli import _terminal
from fabrichealth.cli._command import AGAINST, WELL, Command
from fabrichealth.errors import FabricHealthError, UsageError

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
        if asked.into is None and not (REPOSITORY / "pyproject.toml").exists():
            raise UsageError("this is an installation, not a checkout; give --into FOLDER")
        base = asked.into or REPOSITORY
        stale: list[Path] = []
        for name in [asked.what] if asked.what else KINDS:
            wanted = {base / folder / path: text for folder, path, text in _files(name)}
            left = [] if name == "config" else _left(wanted)
            stale += [*_differing(wanted), *left] if asked.check else _write(wanted, left)
        for path in stale:
            word = "differs from the code" if asked.check else "brought up to date"
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
        from fabrichealth.cli._deploy import files as found  # noqa: PLC0415 - imports every item
    folder = "deploy" if name == "config" else name
    return [(folder, path, text) for path, text in found().items()]


def _differing(wanted: dict[Path, str]) -> list[Path]:
    return [
        path
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def _left(wanted: dict[Path, str]) -> list[Path]:
    """Return files of what is no more, in the folders that hold generated files only."""
    folders = {path.parent for path in wanted}
    return [
        path
        for folder in sorted(folders)
        if folder.is_dir()
        for path in sorted(folder.iterdir())
        if path.is_file() and path not in wanted
    ]


def _write(wanted: dict[Path, str], left: list[Path]) -> list[Path]:
    written = _differing(wanted)
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
    for path in left:
        path.unlink()
    return [*written, *left]
