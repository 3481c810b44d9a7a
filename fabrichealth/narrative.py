"""An incident told as text: for a terminal, a page of the web, a runbook's example.

Short enough for a tired person: what, where, how sure and why, what to do, who suffers.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fabrichealth.catalogue.congestion import PAUSE_WAIT

MOST_VICTIMS = 5
MOST_EVIDENCE = 7
MOST_RUNGS = 3
MOST_STEPS = 4
MOST_ALTERNATIVES = 3


MOST_BRANCHES = 8

WAITS = str(PAUSE_WAIT)
"""Evidence of this metric is an edge of the pause graph: it is drawn."""

CALLED = {"true": "called real", "false": "called a false alarm", "ack": "somebody is at it"}
"""What an operator's word means, for others."""


def moment(at: float | None) -> str:
    """Return a time in UTC, to the second."""
    if at is None:
        return "-"
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def span(seconds: float) -> str:
    """Return a duration in the unit that a person would use."""
    for unit, length in (("d", 86_400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def waiting(seconds: float) -> str:
    """Return what is said of a link in place of a verdict while it has carried too few bits."""
    return f"not enough bits yet, {span(max(seconds, 1.0))} more without an error"


def headline(incident: Mapping[str, Any]) -> str:
    """Return one line: severity, kind, culprit, because."""
    culprit = incident["culprit"]
    state = " (closed)" if incident["closed_at"] is not None else ""
    excuse = f" [suppressed by {incident['suppressed_by']}]" if incident["suppressed_by"] else ""
    if incident["suppressed_by"] and (note := incident.get("suppressed_note")):
        excuse = f" [suppressed by {incident['suppressed_by']}: {' '.join(note.split())[:80]}]"
    word = incident.get("operator")
    if word and word["silent"]:
        excuse += f" [{CALLED[word['says']]}]"
    if incident.get("held_back"):
        excuse += " [no page: see explain]"
    return (
        f"{incident['severity'].upper():6} {incident['incident']:>5}  {incident['kind']:22} "
        f"{culprit['type']} {culprit['id']}{state}{excuse}: {incident['because']}"
    )


def story(incident: Mapping[str, Any], now: float | None = None) -> str:
    """Return a whole incident in under 40 lines."""
    culprit = incident["culprit"]
    lines = [
        f"{incident['incident']}  {incident['kind']}  {incident['severity']}",
        f"culprit    {culprit['type']} {culprit['id']}",
    ]
    if culprit["side"]:
        lane = f", lane {culprit['lane']}" if culprit["lane"] else ""
        lines.append(
            f"side       {culprit['side']} ({culprit['direction'] or 'either direction'}{lane})"
        )
    lines.append(f"because    {incident['because']}")
    lines += _times(incident, now)
    lines += _restraint(incident)
    if incident["causes"]:
        shares = ", ".join(f"{c['cause']} {c['probability']:.0%}" for c in incident["causes"][:4])
        lines.append(f"cause      {shares}")
    lines += _remedy(incident)
    lines.append(f"data       {incident['data_quality']}")
    lines += _victims(incident["victims"])
    lines += _pause_tree(incident["evidence"])
    lines += _evidence([one for one in incident["evidence"] if one["metric"] != WAITS])
    lines += [
        f"not        {other['culprit']['id']}: {other['why_not']}"
        for other in incident["alternatives"][:MOST_ALTERNATIVES]
    ]
    return "\n".join(lines)


def _times(incident: Mapping[str, Any], now: float | None) -> list[str]:
    """Tell when it began, was confirmed, grew and ended, and when its limit is near."""
    lines = [f"opened     {moment(incident['opened_at'])}{_ago(incident['opened_at'], now)}"]
    if incident["confirmed_at"] is not None:
        lines.append(f"confirmed  {moment(incident['confirmed_at'])}")
    steps = incident["history"]
    if len(steps) > 1:
        kinds = " > ".join(f"{step['kind']} ({step['severity']})" for step in steps[-MOST_STEPS:])
        lines.append(f"grew       {kinds}")
    if incident["closed_at"] is not None:
        lines.append(f"closed     {moment(incident['closed_at'])}, when the cause was last seen")
    if (ahead := incident["forecast"]) is not None:
        lines.append(
            f"forecast   {ahead['event'].replace('_', ' ')} {moment(ahead['p50'])} "
            f"({moment(ahead['p10'])} .. {moment(ahead['p90'])})"
        )
    return lines


def _restraint(incident: Mapping[str, Any]) -> list[str]:
    """Tell why nobody is told of it, or not as loudly as a finding asked."""
    lines = []
    if incident["suppressed_by"]:
        said = f" ({note})" if (note := incident.get("suppressed_note")) else ""
        lines.append(f"suppressed by {incident['suppressed_by']}{said}: shown, never paged")
    if incident.get("held_back"):
        lines.append(f"no page    {incident['held_back']}")
    if word := incident.get("operator"):
        note = f": {word['note']}" if word["note"] else ""
        quiet = "; nobody is told of it again" if word["silent"] else ""
        lines.append(f"operator   {CALLED[word['says']]}, {moment(word['at'])}{quiet}{note}")
    if found := incident.get("found"):
        facts = ", ".join(f"{fact} {name}" for fact, name in found.items())
        lines.append(f"found out  {facts}")
    return lines


def _remedy(incident: Mapping[str, Any]) -> list[str]:
    """Tell what to do, what helped before, whether to drain now and what proves the repair."""
    lines = [f"do         {incident['action']}"]
    for rung in incident.get("repair", ())[:MOST_RUNGS] if incident["causes"] else ():
        seen = f", here {rung['worked']} of {rung['tried']}" if rung["tried"] else ""
        lines.append(f"           {rung['success']:4.0%}{seen}  {rung['does']}")
    if incident["safe_to_drain"] is not None:
        word = "yes" if incident["safe_to_drain"] else "no"
        lines.append(f"drain now  {word}: {incident['safe_because']}")
    if proof := incident.get("proof"):
        until = ""
        if proof["clean_from"] is not None:
            until = f", counted from {moment(proof['clean_from'])}"
        lines.append(
            f"return     after {span(proof['seconds'])} without an error ({proof['bits']:.1e} bits "
            f"show {proof['limit']:.0e} with 95 %){until}"
        )
    again = incident.get("earlier", ())
    if again:
        last = again[-1]
        times = "once" if len(again) == 1 else f"{len(again)} times"
        lines.append(
            f"again      {times} before in 90 days; last {last['incident']} {last['kind']} of "
            f"{last['culprit']}, {moment(last['closed_at'])[:10]} (same {last['same']})"
        )
    return lines


def _ago(at: float, now: float | None) -> str:
    return "" if now is None else f" ({span(max(now - at, 0.0))} ago)"


def _victims(victims: list[Mapping[str, str]]) -> list[str]:
    if not victims:
        return ["victims    none known"]
    count = Counter(victim["type"] for victim in victims)
    summary = ", ".join(many(number, kind) for kind, number in count.items())
    lines = [f"victims    {summary}"]
    lines += [f"             {one['type']} {one['id']}" for one in victims[:MOST_VICTIMS]]
    if len(victims) > MOST_VICTIMS:
        lines.append(f"             and {len(victims) - MOST_VICTIMS} more")
    return lines


def _pause_tree(evidence: list[Mapping[str, Any]]) -> list[str]:
    """Draw who waits for whom, from where it begins."""
    edges = {
        (one["labels"]["waiting"], one["labels"]["blocking"]): one["value"]
        for one in evidence
        if one["metric"] == WAITS
    }
    waiting = {who for who, _ in edges}
    roots = list(dict.fromkeys(whom for _, whom in edges if whom not in waiting))
    lines: list[str] = []
    told: set[str] = set()

    def draw(whom: str, depth: int) -> None:
        for (who, other), share in edges.items():
            if other == whom and who not in told and len(told) < MOST_BRANCHES:
                told.add(who)
                lines.append(f"  {'   ' * depth}`- {who} waits {share:.0%} of the time")
                draw(who, depth + 1)

    for root in roots[:1]:
        lines.append(f"  {root}")
        draw(root, 0)
    return [f"waits      {many(len(edges), 'queue')}, nearest first", *lines] if lines else []


def _evidence(evidence: list[Mapping[str, Any]]) -> list[str]:
    """Tell the evidence in order; of much the first line and the newest ones."""
    if not evidence:
        return ["evidence   none kept"]
    cut = len(evidence) > MOST_EVIDENCE
    shown = [evidence[0], *evidence[1 - MOST_EVIDENCE :]] if cut else evidence
    more = f", the first and the newest {MOST_EVIDENCE - 1}" if cut else ""
    lines = [f"evidence   {many(len(evidence), 'line')}{more}"]
    lines += [f"  {moment(one['at'])}  {one['says']}" for one in shown]
    return lines


def many(number: int, kind: str) -> str:
    """Return a number of things of a kind."""
    plural = f"{kind}es" if kind.endswith("ch") else f"{kind}s"  # branches
    return f"{number} {kind if number == 1 else plural}"
