"""The live view as lines of a screen: pure, from what is known, what is chosen, and the size."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from fabrichealth import narrative
from fabrichealth.cli._console import cell, quiet, style_of
from fabrichealth.cli._domain_states import ILL, DomainState
from fabrichealth.cli._following import Now
from fabrichealth.cli._incident_tables import story_text, what
from fabrichealth.cli._readings import drawn
from fabrichealth.cli._watched import Seen

MOST_DOMAINS, MOST_READINGS = 3, 4
INDENT = 11
"""Columns of the labels in a story."""
FEWEST_INCIDENTS = 3
"""Rows of the list that readings and domains leave free, however low the screen."""


@dataclass
class Chosen:
    """What the person at the keyboard chose."""

    incident: Mapping[str, Any] | None = None
    told: bool = False
    """Whether the incident is told whole."""
    top: int = 0
    """First line that is shown of its story."""


def screen(name: str, now: Now, chosen: Chosen, size: tuple[int, int], moment: float) -> list[Text]:
    """Return the lines of a screen of `size` (columns, rows), as many as it has rows.

    `moment` is `time.monotonic()` of this drawing, by which it is said how long trouble lasts.
    """
    width, height = size
    head = [_title(name, now, width), _state(now, moment)]
    if chosen.told and chosen.incident is not None:
        body, foot = _story(now, chosen, width, height - len(head) - 1)
    else:
        body, foot = _overview(now, chosen, width, height - len(head) - 1)
    lines = [*head, *body][: height - 1]
    lines += [Text()] * (height - 1 - len(lines))
    every = [*lines, Text(foot, style="reverse")]
    for line in every:
        line.truncate(width, overflow="ellipsis")
    return every


def once(name: str, seen: Seen) -> Iterator[Text]:
    """Yield what is seen as lines without an end, for a pipe."""
    yield cell(f"fabrichealth  {name}  {narrative.moment(seen.at)} UTC")
    if seen.lacks:
        yield cell(seen.lacks)
    yield from map(_domain, seen.domains or ())
    yield _silent(seen.domains)
    for incident in seen.incidents:
        yield cell(narrative.headline(incident))
    yield Text(summary(seen.incidents))


def summary(incidents: Sequence[Mapping[str, Any]]) -> str:
    """Return how many incidents are open, by severity, and how many of them nobody is told of."""
    if not incidents:
        return "nothing open"
    told = Counter(one["severity"] for one in incidents if not quiet(one))
    quiet_ones = sum(map(quiet, incidents))
    parts = [f"{many} {word}" for word, many in told.items()]
    parts += [f"{quiet_ones} told to nobody"] if quiet_ones else []
    return f"{len(incidents)} open: {', '.join(parts)}"


def _title(name: str, now: Now, width: int) -> Text:
    clock = f"{narrative.moment(now.seen.at)} UTC"
    left = cell(f"fabrichealth  {name}", "bold")
    left.truncate(max(width - len(clock) - 2, 0), overflow="ellipsis")
    left.pad_right(max(width - len(clock) - left.cell_len, 1))
    return left.append(clock, style="bold")


def _state(now: Now, moment: float) -> Text:
    """Return whether what is shown is of now."""
    if now.trouble:
        lasting = narrative.span(max(moment - now.since, 0.0))
        return cell(f"OUT OF DATE for {lasting}: {now.trouble}", "bold red")
    if now.away:
        return cell(f"live again, after {narrative.span(now.away)} without an answer", "yellow")
    if now.seen.lacks:
        return cell(f"live; {now.seen.lacks}", "yellow")
    return Text("live", style="green")


def _overview(now: Now, chosen: Chosen, width: int, room: int) -> tuple[list[Text], str]:
    seen = now.seen
    head = [Text(summary(seen.incidents), style="bold"), *_domains(seen.domains)]
    readings = _readings(now, chosen, width)
    if seen.incidents:  # however low the screen: what is chosen is seen
        head = head[: max(room - 1, 0)]
    rows = room - len(head) - len(readings)
    if rows < FEWEST_INCIDENTS:
        readings = readings[: max(room - len(head) - FEWEST_INCIDENTS, 0)]
        rows = max(room - len(head) - len(readings), 1)
    listed = _list(seen.incidents, chosen, rows)
    listed += [Text()] * (rows - len(listed))
    return [*head, *listed, *readings], " up/down choose   enter explain   q quit"


def _domains(domains: Sequence[DomainState] | None) -> Iterator[Text]:
    known = domains or ()
    yield from map(_domain, known[:MOST_DOMAINS])
    if len(known) > MOST_DOMAINS:
        yield Text(f"and {len(known) - MOST_DOMAINS} domains that do better", style="dim")
    yield _silent(domains)


def _domain(one: DomainState) -> Text:
    """Return a domain in one line: its links by state, the ill ones first."""
    line = Text.assemble(
        cell(f"{one.name:10} ", "bold"), narrative.many(sum(one.links.values()), "link") + ": "
    )
    counts = [*((state, one.links.get(state, 0)) for state in ILL),
              ("healthy", one.links.get("healthy", 0)),
              ("unknown", one.links.get("unknown", 0))]  # fmt: skip
    styles = {"down": "red", "drain": "red", "subhealthy": "yellow", "healthy": "green"}
    parts = [Text(f"{many} {state}", style=styles.get(state, "")) for state, many in counts if many]
    line.append_text(Text(", ").join(parts) if parts else Text("none"))
    return line.append(f"; {narrative.many(one.devices, 'device')}")


def _silent(domains: Sequence[DomainState] | None) -> Text:
    """Return which devices answered before and do not now."""
    if domains is None:
        return Text("no series are kept here: domains and silence are not known", style="yellow")
    many = sum(one.many_silent for one in domains)
    if not many:
        return Text("silent     no device")
    names = [name for one in domains for name in one.silent]
    return cell(f"silent     {many}: {', '.join(names)}", "yellow")


def _list(incidents: Sequence[Mapping[str, Any]], chosen: Chosen, rows: int) -> list[Text]:
    """Return the incidents around the chosen one, a line each."""
    names = [one["incident"] for one in incidents]
    wanted = chosen.incident["incident"] if chosen.incident is not None else ""
    place = names.index(wanted) if wanted in names else 0
    first = min(max(place - rows // 2, 0), max(len(incidents) - rows, 0))
    lines = []
    for number, one in enumerate(incidents[first : first + rows], start=first):
        here = number == place
        line = Text.assemble(
            Text("> " if here else "  ", style="bold"),
            cell(f"{one['severity'].upper():6} {one['incident']:>5} ", style_of(one)),
            cell(f"{narrative.moment(one['opened_at'])[11:16]}  {one['kind']:16} "),
            what(one),
        )
        if here:
            line.stylize("bold")
        lines.append(line)
    return lines


def _readings(now: Now, chosen: Chosen, width: int) -> list[Text]:
    """Return the readings of the chosen incident, where they are known."""
    if chosen.incident is None or now.of != chosen.incident["incident"]:
        return []
    title = f"readings of {now.of}"
    if now.readings is None:
        return [cell(f"{title}: not to be had", "dim")]
    lines = list(drawn(list(now.readings), width - 2))[:MOST_READINGS]
    return [cell(title, "cyan"), *(cell(f"  {line}") for line in lines)] if lines else []


def _story(now: Now, chosen: Chosen, width: int, room: int) -> tuple[list[Text], str]:
    incident = chosen.incident or {}
    known = {one["incident"]: one for one in now.seen.incidents}
    shown = known.get(incident["incident"], incident)
    over = [] if incident["incident"] in known else [Text("it is open no more", style="yellow")]
    text = story_text(narrative.story(shown, now.seen.at), shown)
    lines = [*over, *_folded(text, width), *_readings(now, chosen, width)]
    most = max(len(lines) - room, 0)
    chosen.top = min(max(chosen.top, 0), most)
    more = f"   line {chosen.top + 1} of {len(lines)}" if most else ""
    foot = f" up/down scroll   esc back   q quit{more}"
    return lines[chosen.top : chosen.top + room], foot


def _folded(text: Text, width: int) -> list[Text]:
    """Return text in lines of at most so many columns; what goes on is indented."""
    indent = min(INDENT, width // 2)
    lines: list[Text] = []
    for whole in text.split("\n"):
        line = whole
        while line.cell_len > width:
            cut = _cut(line.plain, width, indent)
            lines.append(line[:cut])
            rest = line[cut:]
            if not rest.plain.strip():
                break
            line = Text(" " * indent) + rest
        else:
            lines.append(line)
    return lines


def _cut(line: str, width: int, indent: int) -> int:
    """Return where to cut a line: after its last blank that fits, else where the screen ends."""
    cells, end = 0, 0
    for end, one in enumerate(line):  # noqa: B007 - where it ended is the answer
        cells += cell_len(one)
        if cells > width:
            break
    blank = line.rfind(" ", indent + 1, end)
    return blank + 1 if blank > 0 else max(end, indent + 1)
