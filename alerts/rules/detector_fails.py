"""A detector fails at every pass."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.watchers import ANALYSIS_FAILING
from fabrichealth.kinds import Severity

LABELS = {"detector": "pfc_storm"}
SERIES = f'{ANALYSIS_FAILING}{{detector="pfc_storm"}}'

ALERT = Alert(
    name="FabricDetectorFails",
    expr=f"max by (detector) ({ANALYSIS_FAILING}) == 1",
    hold="5m",
    severity=Severity.TICKET,
    summary="Detector {{ $labels.detector }} fails and repeats what it said before",
    runbook=Runbook(
        meaning="For five minutes the detector has ended each pass with a fault of its own; until "
        "it does not, what it found last is held to be so.",
        impact="Its kinds of incident neither open nor close; all others are judged as ever.",
        diagnosis="The log of `judging` holds the fault once, where it began. Did a device begin "
        "to send something new?",
        mitigation="Report the fault with that part of the log; a restart helps only if what was "
        "read was passing.",
    ),
    cases=(
        Case({SERIES: "0x5 1x20"}, at="15m", fires=True, why="failing on and on", labels=LABELS),
        Case({SERIES: "0x5 1x2 0x20"}, at="15m", fires=False, why="failed on one reading"),
    ),
)
