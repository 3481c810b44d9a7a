"""A leak rope stays wet, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.cooling import LEAK
from fabrichealth.kinds import Severity

LABELS = {"loop": "cdu-1", "zone": "r01"}
ROPE = f'{LEAK}{{loop="cdu-1",zone="r01"}}'

ALERT = Alert(
    name="FabricCoolantLeak",
    expr=f"max by (loop, zone) ({LEAK}) == 1",
    hold="90s",
    severity=Severity.PAGE,
    covered_by=("loop",),
    covered_kind="cooling.leak",
    page="cooling.leak",
    summary="The rope {{ $labels.zone }} of {{ $labels.loop }} has been wet for 90 s",
    runbook=Runbook(
        meaning="A leak rope has reported water for a minute and a half without a break.",
        impact="Coolant is where electronics are. The analyzer's incident says which branch and "
        "how much is lost; this rule is the safety net under it.",
        diagnosis="Does the reservoir's level fall, does less flow come back than goes out? Who "
        "worked on a quick connector today? A rope that dries within a minute only blipped.",
        mitigation="Go there. At a tray: isolate the branch and power down what is under it.",
    ),
    cases=(
        Case({ROPE: "0x5 1x20"}, at="10m", fires=True, why="wet and stays wet", labels=LABELS),
        Case({ROPE: "0x5 1x0 0x20"}, at="7m", fires=False, why="one wet poll: sensors blip"),
    ),
)
