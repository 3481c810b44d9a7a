"""A port that was up is down, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.ports import ADMIN_UP, UP
from fabrichealth.kinds import Severity

LABELS = {"device": "leaf-01", "port": "Ethernet0"}
PORT = '{device="leaf-01",port="Ethernet0"}'

ALERT = Alert(
    name="FabricPortDown",
    expr=(
        f"max by (device, port) ({UP}) == 0"
        f" and max by (device, port) (max_over_time({UP}[6h])) == 1"
        f" unless max by (device, port) ({ADMIN_UP}) == 0"
    ),
    hold="5m",
    severity=Severity.WATCH,
    covered_by=("device", "port"),
    summary="{{ $labels.device }}/{{ $labels.port }} is down",
    runbook=Runbook(
        meaning="An enabled port that was up within six hours has been down for five minutes.",
        impact="The link carries nothing. The analyzer's incident names the culprit and pages; "
        "this rule is the safety net under it.",
        diagnosis="Is there an incident for the link or its device? If not, is the cable written "
        "in the topology?",
        mitigation="Follow the incident; without one reseat both ends.",
    ),
    cases=(
        Case(
            {f"{UP}{PORT}": "1x5 0x20", f"{ADMIN_UP}{PORT}": "1x30"},
            at="15m",
            fires=True,
            why="up, then down for ten minutes",
            labels=LABELS,
        ),
        Case({f"{UP}{PORT}": "0x30"}, at="15m", fires=False, why="a port that was never up"),
        Case(
            {f"{UP}{PORT}": "1x5 0x20", f"{ADMIN_UP}{PORT}": "1x5 0x20"},
            at="15m",
            fires=False,
            why="somebody disabled it",
        ),
    ),
)
