"""Whom the daemon tells of incidents does not take it."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.watchers import RECEIVER_UP
from fabrichealth.kinds import Severity

LABELS = {"receiver": "http://alertmanager:9093/api/v2/alerts"}
SERIES = f'{RECEIVER_UP}{{receiver="{LABELS["receiver"]}"}}'

ALERT = Alert(
    name="FabricReceiverRefuses",
    expr=f"max by (receiver) ({RECEIVER_UP}) == 0",
    hold="5m",
    severity=Severity.TICKET,
    summary="{{ $labels.receiver }} does not take what the daemon tells it",
    runbook=Runbook(
        meaning="For five minutes an Alertmanager or remediator named in the site file has not "
        "answered, or has refused what it was told.",
        impact="Incidents reach people by Prometheus' rules alone, remediators not at all. Nothing "
        "is lost: all that is open is told once it answers.",
        diagnosis="The daemon's log holds its answer once, where it began.",
        mitigation="Mend the address or credentials under `notify:` or `remediate:`, or whom they "
        "name.",
    ),
    cases=(
        Case({SERIES: "1x5 0x20"}, at="15m", fires=True, why="it is away", labels=LABELS),
        Case({SERIES: "1x5 0x2 1x20"}, at="15m", fires=False, why="it was restarted"),
    ),
)
