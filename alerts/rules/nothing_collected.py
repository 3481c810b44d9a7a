"""Nobody collects: the monitor itself is silent."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.watchers import SOURCE_UP
from fabrichealth.kinds import Severity

SERIES = f'{SOURCE_UP}{{source="prom",target="host-001"}}'

ALERT = Alert(
    name="FabricNothingCollected",
    expr=f"absent({SOURCE_UP})",
    hold="5m",
    severity=Severity.PAGE,
    summary="No collector reports: the fabric is not watched",
    runbook=Runbook(
        meaning="Prometheus has had no series of any collector for five minutes.",
        impact="No fault of the fabric is seen by anybody; green boards mean nothing now.",
        diagnosis="Is the collector running (`systemctl status fabrichealth`)? Does Prometheus "
        "reach its /metrics (Status, Targets)?",
        mitigation="Start the collector, or mend the scrape.",
    ),
    cases=(
        Case({SERIES: "1x3 stale _x20"}, at="15m", fires=True, why="the collector died", labels={}),
        Case({SERIES: "0x20"}, at="15m", fires=False, why="a collector whose target is silent"),
    ),
)
