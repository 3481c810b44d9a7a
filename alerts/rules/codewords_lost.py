"""A link whose code cannot repair what arrives, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.ports import FEC_UNCORRECTABLE_CODEWORDS, UP
from fabrichealth.kinds import Severity

LABELS = {"device": "leaf-01", "port": "Ethernet0"}
PORT = 'device="leaf-01",port="Ethernet0"'
LOST = f"{FEC_UNCORRECTABLE_CODEWORDS}{{{PORT}}}"

ALERT = Alert(
    name="FabricCodewordsLost",
    expr=(
        f"increase({FEC_UNCORRECTABLE_CODEWORDS}[10m]) > 0"
        f" unless on (device, port) min_over_time({UP}[11m]) == 0"
    ),
    hold="15m",
    severity=Severity.WATCH,
    covered_by=("device", "port"),
    summary="{{ $labels.device }}/{{ $labels.port }} receives codewords that FEC cannot repair",
    runbook=Runbook(
        meaning="For a quarter of an hour every ten minutes brought at least one codeword with "
        "more wrong symbols than the code repairs, and the link was not training.",
        impact="Without link-level retry each one loses up to eight frames and a collective waits "
        "for its timeout; with retry the link is slow. The analyzer's incident holds it against "
        "the limit of the technology; this rule is the safety net under it.",
        diagnosis="Many corrected bits too: light or cable, see the optics board. Few corrected "
        "bits and yet codewords lost: bursts, so reflections, a loose plug or crosstalk.",
        mitigation="Clean and reseat at the receiving end named, then swap what stays ill.",
    ),
    cases=(
        Case(
            {LOST: "5+3x40", f"{UP}{{{PORT}}}": "1x40"},
            at="35m",
            fires=True,
            why="three codewords a minute, on and on",
            labels=LABELS,
        ),
        Case(
            {LOST: "5x10 900x30", f"{UP}{{{PORT}}}": "1x40"},
            at="35m",
            fires=False,
            why="one burst while somebody touched the fibre",
        ),
        Case(
            {LOST: "5+3x40", f"{UP}{{{PORT}}}": "1x20 0x2 1x18"},
            at="32m",
            fires=False,
            why="the link trained a few minutes ago",
        ),
    ),
)
