"""`read SOURCE [ADDRESS|CAPTURE...]`: one source, now: a device once, or captures in order."""

import argparse
import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

from collectors.intake import Bounds, checked
from collectors.source import Source, Target
from collectors.visit import guarded, visited
from fabrichealth.address import checked_url, shown
from fabrichealth.cli import _polled, _terminal
from fabrichealth.cli._captures import in_order, taken_at
from fabrichealth.cli._command import AGAINST, WELL, Command
from fabrichealth.cli._site import SOURCES, settings_for, source_type
from fabrichealth.errors import SourceUnavailable, UsageError
from fabrichealth.model import Poll, SeriesTable
from fabrichealth.own_name import host_name
from fabrichealth.plugins import names
from fabrichealth.runtime.clock import Clock
from fabrichealth.settings import seconds_of
from fabrichealth.target_rows import TargetRow, name_of
from fabrichealth.topology import Topology
from fabrichealth.topology import read as read_topology

LATEST = 1e11
"""Unix seconds beyond this (the year 5138) are milliseconds by mistake."""

OF_THE_TARGET = frozenset({"name", "device", "source", "address"})
OF_THE_COMMAND = frozenset({"interval", "at", "topology"})


class Read(Command):
    """Shows what one source makes of a device or of captures."""

    help = "read one source once, from a device or from captures of its replies"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare source, what to read, and how to name it."""
        parser.add_argument("source", help="name of the source")
        parser.add_argument("what", nargs="*", help="an address, or captures in order")
        parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
        parser.add_argument("--json", action="store_true", help="JSON objects, one a line")
        parser.add_argument("--explain", action="store_true", help="where each value comes from")

    def run(self, asked: argparse.Namespace) -> int:
        """Read, print, and return 1 if nothing was read."""
        if asked.source not in names(SOURCES):
            known = ", ".join(names(SOURCES))
            raise UsageError(f"no source named {asked.source}; there are {known}")
        given = _given(asked.set)
        if "" in asked.what:
            raise UsageError(f"read {asked.source}: an empty argument; give an address or captures")
        paths = [Path(word) for word in asked.what]
        captures = [path for path in paths if _there(path)]
        if captures and len(captures) != len(paths):
            missing = next(path for path in paths if path not in captures)
            raise UsageError(f"{missing}: no such capture; an address is read alone")
        if len(paths) > 1 and not captures:
            raise UsageError("one address at a time; several arguments are captures in order")
        table = SeriesTable()
        if captures:
            polls = _from_captures(asked.source, captures, given, table, asked.explain)
        else:
            address = _address(asked.source, asked.what)
            whole = {"whole": "true"} if not asked.json and _can_be_whole(asked.source) else {}
            polls = [_from_device(asked.source, address, whole | given, table, asked.explain)]
        read = 0
        for one in polls:
            read += one.poll.readings + len(one.poll.neighbors)
            if asked.json:
                for explained in one.explanation:
                    _terminal.tell(explained)
                _polled.tell(asked.source, one.target, one.poll, table)
            else:
                _polled.say(asked.source, one.target, one.poll, table, one.report)
        refused = sum(len(one.poll.refused) for one in polls)
        if not read and (refused or not any(one.poll.missing for one in polls)):
            _terminal.warn(f"{asked.source}: nothing was read, {refused} readings were refused")
        return WELL if read else AGAINST


@dataclass(frozen=True, slots=True)
class _Shown:
    """One poll, and what the source itself says of it where it has more to say than readings."""

    target: str
    poll: Poll
    report: tuple[str, ...] = ()
    explanation: tuple[dict[str, object], ...] = ()


def _shown(source: Source, poll: Poll, *, explain: bool) -> _Shown:
    report = tuple(source.report(explain=explain) or ())
    explanation = tuple(source.explanation()) if explain else ()
    return _Shown(source.target.name, poll, report, explanation)


def _can_be_whole(name: str) -> bool:
    """Return whether a source can read more than its readings need, for a report."""
    return "whole" in source_type(name).settings_type.model_fields


def _there(path: Path) -> bool:
    """Return whether a path leads to something; words too long for a path lead nowhere."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _address(name: str, words: list[str]) -> str:
    """Return the address to visit; empty for what runs on this host."""
    kind = source_type(name)
    schemes = kind.schemes
    if kind.local and not words:
        return ""
    if not schemes:
        if words and kind.local and "://" not in words[0]:
            return words[0]
        if words:
            raise UsageError(
                f"{shown(words[0])}: no such capture; {name} runs on this host, no address"
            )
        return ""
    forms = " or ".join(f"{scheme}://HOST" for scheme in schemes)
    if not words:
        raise UsageError(f"read {name}: give an address of the form {forms}, or captures")
    if not words[0].startswith(tuple(f"{scheme}://" for scheme in schemes)):
        raise UsageError(f"{shown(words[0])}: no such capture, and no address of the form {forms}")
    try:
        return checked_url(words[0], schemes, query=kind.queries)
    except ValueError as wrong:
        raise UsageError(f"read {name}: {wrong}") from None


def _given(words: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise UsageError(f"--set {word}: write key=value")
        if key in {"name", "device"}:
            try:
                name_of(value)
            except ValueError as wrong:
                raise UsageError(f"--set {key}: {wrong}") from None
        given[key] = value
    return given


def _build(
    name: str, subject: str, address: str, given: dict[str, str], table: SeriesTable
) -> Source:
    kind = source_type(name)
    keys = OF_THE_COMMAND | TargetRow.model_fields.keys() | kind.settings_type.model_fields.keys()
    keys -= {"source", "address"}
    for key in given.keys() - keys:
        raise UsageError(f"--set {key}: unknown; there are {', '.join(sorted(keys))}")
    of_source = {key: text for key, text in given.items() if key in kind.settings_type.model_fields}
    settings = settings_for(name, of_source)
    topology = read_topology(Path(given["topology"])) if "topology" in given else Topology()
    taken = OF_THE_TARGET | OF_THE_COMMAND | of_source.keys()
    options = {key: text for key, text in given.items() if key not in taken}
    target = Target(subject, name, address, given.get("device", ""), options, topology)
    return kind(settings, target, table)


def _from_device(
    name: str, address: str, given: dict[str, str], table: SeriesTable, explain: bool
) -> _Shown:
    """Visit a device once, as the poller would."""
    here = not source_type(name).schemes
    subject = given.get("name") or (host_name() if here else _subject(address))

    async def visit() -> _Shown:
        source = _build(name, subject, address, given, table)
        clock = Clock()
        try:
            poll = await visited(source, Bounds(table), clock, clock.now())
            return _shown(source, poll, explain=explain)
        finally:
            await source.close()

    return asyncio.run(visit())


def _subject(address: str) -> str:
    if not address:
        return host_name()
    host = re.sub(r"^[a-z+]+://", "", address).split("/")[0].split("@")[-1]
    return host.rsplit(":", 1)[0] or "target"


def _from_captures(
    name: str, captures: list[Path], given: dict[str, str], table: SeriesTable, explain: bool
) -> list[_Shown]:
    """Read captures in order; one source object sees them all, as it would live."""
    polls = [poll for path in captures for poll in in_order(path)]
    stem = captures[0].resolve().stem or "capture"
    subject = given.get("name") or stem.replace("/", "_").replace("--", "-_")
    source = _build(name, subject, "", given, table)
    step = _number("interval", given)
    first = _number("at", given)
    found: list[_Shown] = []
    bounds = Bounds(table)
    for number, files in enumerate(polls):
        try:
            with guarded(files):
                at = _moment(source, files, first, step, number)
                if first is None and step is not None:
                    first = at
                poll = source.captured(files, at)
                poll = checked(poll, bounds, table, at, source.settings.stale_after)
                shown = _shown(source, poll, explain=explain)
        except SourceUnavailable as wrong:
            _terminal.warn(str(wrong))  # the captures after it are read all the same
            found.append(_Shown(subject, Poll(missing=[str(file) for file in files])))
            continue
        found.append(shown)
    return found


def _number(key: str, given: dict[str, str]) -> float | None:
    """Return a plain number of seconds, or a duration, or None where it is not given."""
    if key not in given:
        return None
    try:
        number = float(given[key])
    except ValueError:
        try:
            number = seconds_of(given[key])
        except ValueError as wrong:
            raise UsageError(f"--set {key}: {wrong}") from None
    if not 0 <= number < LATEST:
        raise UsageError(f"--set {key}: {given[key]} is no number of seconds from 0 on")
    return number


def _moment(
    source: Source, files: list[Path], first: float | None, step: float | None, number: int
) -> float:
    """Return when a capture was taken: as said, as stamped inside, or as its file is dated."""
    if first is not None and (step is not None or number == 0):
        return first + number * (step or 0.0)
    return taken_at(source, files)
