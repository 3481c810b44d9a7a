"""Readings are lost on their way to the store."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.watchers import DROPPED_SAMPLES
from fabrichealth.kinds import Severity

ALERT = Alert(
    name="FabricSamplesLost",
    expr=f"sum(increase({DROPPED_SAMPLES}[10m])) > 0",
    hold="0m",
    severity=Severity.TICKET,
    summary="The store does not take readings",
    runbook=Runbook(
        meaning="The collector had to drop readings: the store refused them, or they were no"
        " numbers.",
        impact="History has holes; judging is poorer or stands still.",
        diagnosis="The collector's log says why: most often the disk is full.",
        mitigation="Make room, or lower `store.max_bytes` or the retention in the site file.",
    ),
    cases=(
        Case(
            {str(DROPPED_SAMPLES): "0x5 0+500x10"},
            at="12m",
            fires=True,
            why="drops go on",
            labels={},
        ),
        Case({str(DROPPED_SAMPLES): "700x20"}, at="18m", fires=False, why="drops of yesterday"),
    ),
)
