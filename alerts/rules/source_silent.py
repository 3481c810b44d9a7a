"""A target that does not answer, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.watchers import SOURCE_UP
from fabrichealth.kinds import Severity

LABELS = {"source": "prom", "target": "host-001"}
SERIES = f'{SOURCE_UP}{{source="prom",target="host-001"}}'

ALERT = Alert(
    name="FabricSourceSilent",
    expr=f"max by (source, target) ({SOURCE_UP}) == 0",
    hold="10m",
    severity=Severity.TICKET,
    covered_by=("source", "target"),
    summary="{{ $labels.source }} {{ $labels.target }} does not answer",
    runbook=Runbook(
        meaning="A target has not answered for ten minutes; what it watched is watched by nobody.",
        impact="Faults of its subject are not seen. Nothing is known to be wrong with it.",
        diagnosis="`fabrichealth check -c site.yaml --probe` says what the target answers; the "
        "collector's log holds the first failure and its reason.",
        mitigation="Restart the agent, renew its credentials, or mend the path to it.",
    ),
    cases=(
        Case(
            {SERIES: "1x3 0x15"}, at="15m", fires=True, why="silent for ten minutes", labels=LABELS
        ),
        Case({SERIES: "1x3 0x5 1x10"}, at="15m", fires=False, why="it came back by itself"),
    ),
)
