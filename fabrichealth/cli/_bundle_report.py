"""The report of a folder of tools' outputs: what was read, what was not, and what is wrong."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabrichealth.cli._bundle_reading import Bundle
from fabrichealth.events import Event
from fabrichealth.narrative import moment, span, story

MOST_NAMED = 8
MOST_LETTERS = 100


def text(folder: Path, bundle: Bundle, incidents: Sequence[dict[str, Any]]) -> str:
    """Return the report for a person; what could not be read stands beside what was."""
    first, last = min(bundle.moments), max(bundle.moments)
    many = len(bundle.moments)
    when = moment(first) if many == 1 else f"{moment(first)} .. {moment(last)}"
    by = ", ".join(f"{count} {name}" for name, count in bundle.files.most_common())
    lines = [
        f"{folder}: {many} {'moment' if many == 1 else 'moments'}, {when}",
        f"devices    {len(bundle.devices)}: {_some(sorted(bundle.devices))}",
        f"files      {sum(bundle.files.values())} read ({by})",
        f"readings   {bundle.readings}{_refused(bundle)}; {len(bundle.events)} lines of logs",
    ]
    if bundle.strangers:
        names = _some([str(file.relative_to(folder)) for file in bundle.strangers])
        lines.append(f"not known  {len(bundle.strangers)} files: {names}")
    lines += [f"not read   {warning}" for warning in bundle.warnings[:MOST_NAMED]]
    if many == 1:
        lines.append("one moment: levels are judged as if they lasted; of errors per time nothing "
                     "is known, take the same outputs again")  # fmt: skip
    else:
        lines.append(f"judged over {span(last - first)}; what happened in between is not known")
    lines += _logs(bundle.events)
    lines.append("")
    if not incidents:
        lines.append("nothing wrong was found in what was read")
    for incident in incidents:
        lines += [story(incident), ""]
    return "\n".join(lines).rstrip()


def plain(folder: Path, bundle: Bundle) -> dict[str, Any]:
    """Return the summary of a report as JSON; the incidents stand before it."""
    return {
        "bundle": str(folder),
        "devices": sorted(bundle.devices),
        "moments": sorted(bundle.moments),
        "files": dict(bundle.files),
        "unknown": [str(file.relative_to(folder)) for file in bundle.strangers],
        "readings": bundle.readings,
        "refused": dict(bundle.refused),
        "warnings": bundle.warnings,
    }


def _logs(events: Sequence[Event]) -> list[str]:
    """Tell each code of each device in the logs once: how often, when last, the newest text."""
    last: dict[tuple[str, str], Event] = {}
    count: Counter[tuple[str, str]] = Counter()
    for event in sorted(events, key=lambda one: one.at):
        key = ("/".join(event.scope.values()), str(event.more.get("code", event.kind)))
        last[key] = event
        count[key] += 1
    lines = []
    for (place, code), event in sorted(last.items(), key=lambda one: one[1].at)[-MOST_NAMED:]:
        fatal = ", fatal" if event.more.get("fatal") else ""
        words = str(event.more.get("text", event.note))[:MOST_LETTERS]
        head = f"log        {moment(event.at)}  {place} {code} x{count[place, code]}{fatal}"
        lines.append(f"{head}: {words}")
    return lines


def _refused(bundle: Bundle) -> str:
    if not bundle.refused:
        return ""
    reasons = ", ".join(f"{count} {reason}" for reason, count in bundle.refused.most_common())
    return f", {sum(bundle.refused.values())} refused ({reasons})"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
