"""An incident that needs hands this week."""

from alerts.alert import Alert, Case, Runbook
from alerts.incident import active, info, joined, opened, owner
from fabrichealth.kinds import Severity

LABELS = opened("link.degraded_speed", "loose_or_bad_module")

ALERT = Alert(
    name="FabricIncidentTicket",
    expr=joined(Severity.TICKET),
    hold="0m",
    severity=Severity.TICKET,
    page="{{ $labels.kind }}",
    summary="{{ $labels.kind }}: {{ $labels.culprit }} ({{ $labels.incident }})",
    runbook=Runbook(
        meaning="The analyzer holds one culprit responsible: it works, but not well.",
        impact="Slower jobs, thinner margins; it may become a page.",
        diagnosis="`fabrichealth explain INCIDENT` gives evidence, side, causes and victims.",
        mitigation="Plan what the incident's action says for a maintenance window.",
    ),
    cases=(
        Case(
            {
                active(LABELS): "3x10",
                info(LABELS, "ticket"): "1x10",
                owner(LABELS): "1x10",
            },
            at="5m",
            fires=True,
            why="an incident of severity ticket is open",
            labels=LABELS,
        ),
        Case(
            {active(LABELS): "2x10", info(LABELS, "watch"): "1x10"},
            at="5m",
            fires=False,
            why="an incident to be watched only",
        ),
    ),
)
