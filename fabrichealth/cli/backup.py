"""`backup -c site.yaml INTO`: what a daemon keeps in `state:`, copied whole while it runs."""

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path

from fabrichealth.cli import _terminal
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._site import load
from fabrichealth.errors import StoreError, UsageError
from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.backup import STORE, copy_database, copy_store


class Backup(Command):
    """Copies the state of a site; to restore, put the copy in its place."""

    help = "copy what a site keeps in its state folder, while it runs"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the site file and the folder of the copy."""
        parser.add_argument("-c", "--config", type=Path, required=True, help="site file")
        parser.add_argument("into", type=Path, help="a new folder, in which the copy lies whole")

    def run(self, asked: argparse.Namespace) -> int:
        """Copy, and say what; the folder is there when the copy is whole, and not before."""
        into: Path = asked.into
        if into.exists():
            raise UsageError(f"{into}: is there already; give the name of a new folder")
        state = StatePaths(load(asked.config).site.state)
        draft = into.with_name(f"{into.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        try:
            draft.mkdir(mode=0o750, parents=True)
            said = list(_copied(state, StatePaths(draft)))
            if not said:
                raise StoreError(f"{state.folder}: nothing there yet to back up; start the daemon")
            draft.rename(into)
        except OSError as wrong:
            raise StoreError(
                f"{into}: cannot be written ({wrong.strerror}); give a folder with room"
            ) from None
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        for line in said:
            _terminal.say(line)
        _terminal.say(f"{into}: whole")
        return WELL


def _copied(state: StatePaths, into: StatePaths) -> Iterator[str]:
    """Copy what is there, what may be older first, and say each."""
    for source, target, what in (
        (state.memory, into.memory, "what sources remember"),
        (state.ledger, into.ledger, "the ledger"),
        (state.remedies, into.remedies, "what remediators hold drained"),
    ):
        if source.exists():
            shutil.copyfile(source, target)
            yield _said(target, what)
    if state.journal.exists():
        copy_database(state.journal, into.journal)
        yield _said(into.journal, "events and incidents")
    if (state.store / STORE).exists():
        copy_store(state.store, into.store)
        yield _said(into.store, "readings")


def _said(path: Path, what: str) -> str:
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    size = sum(one.stat().st_size for one in files)
    return f"{path.name:<13} {size / 2**20:8.1f} MiB  {what}"
