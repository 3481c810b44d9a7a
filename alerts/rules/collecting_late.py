"""A target counts as answering, but nothing of it was read for long."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.watchers import LAST_SUCCESS, SOURCE_UP
from fabrichealth.kinds import Severity

LABELS = {"source": "snmp", "target": "pdu-1"}
ON = '{source="snmp",target="pdu-1"}'

AGE = f"(time() - max by (source, target) ({LAST_SUCCESS}))"
USUAL = f"21600 / clamp_min(max by (source, target) (changes({LAST_SUCCESS}[6h])), 1)"

ALERT = Alert(
    name="FabricCollectingLate",
    expr=(
        f"{AGE} > 900 and {AGE} > 5 * {USUAL}"
        f" and on (source, target) max by (source, target) ({SOURCE_UP}) == 1"
    ),
    hold="5m",
    severity=Severity.TICKET,
    covered_by=("source", "target"),
    summary="{{ $labels.source }} {{ $labels.target }} was last read "
    "{{ $value | humanizeDuration }} ago",
    runbook=Runbook(
        meaning="The target is held to be up, but its last good visit is five times as old as its "
        "visits usually are, and more than a quarter of an hour.",
        impact="What it watches is judged by old readings.",
        diagnosis="Is the collector overloaded (watchers board: duration of visits, its CPU), or "
        "does one visit hang beyond its `timeout`?",
        mitigation="Give the target a longer `period`, share the targets "
        "(`collect --shard i/n`), or restart the collector and report what hung.",
    ),
    cases=(
        Case(
            {f"{LAST_SUCCESS}{ON}": "0+60x60 3600x60", f"{SOURCE_UP}{ON}": "1x130"},
            at="110m",
            fires=True,
            why="read each minute, then for fifty minutes no more",
            labels=LABELS,
            value="50m 0s",
        ),
        Case(
            {f"{LAST_SUCCESS}{ON}": "0x59 3600x59 7200x59", f"{SOURCE_UP}{ON}": "1x180"},
            at="110m",
            fires=False,
            why="a target that is read once an hour",
        ),
        Case(
            {f"{LAST_SUCCESS}{ON}": "0+60x60 3600x60", f"{SOURCE_UP}{ON}": "1x60 0x70"},
            at="110m",
            fires=False,
            why="it does not answer, which another rule says",
        ),
    ),
)
