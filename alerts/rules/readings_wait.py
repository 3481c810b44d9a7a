"""Readings wait on disk for a store that does not take them."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.watchers import SPOOLED_SAMPLES
from fabrichealth.kinds import Severity

ALERT = Alert(
    name="FabricReadingsWait",
    expr=f"min_over_time({SPOOLED_SAMPLES}[15m]) > 0 and delta({SPOOLED_SAMPLES}[15m]) > 0",
    hold="5m",
    severity=Severity.TICKET,
    summary="{{ $value | humanize }} readings or more wait for the store",
    runbook=Runbook(
        meaning="The store has refused readings for a quarter of an hour or takes them more "
        "slowly than they come; they are kept on disk under `state:` meanwhile.",
        impact="Nothing is lost yet, but judging sees old readings; once the disk's share is full "
        "the oldest are dropped (FabricSamplesLost).",
        diagnosis="The collector's log says what the store answers: down, other credentials, full, "
        "or too slow for what is written.",
        mitigation="Mend the store; what waits is written by itself afterwards, oldest first.",
    ),
    cases=(
        Case(
            {str(SPOOLED_SAMPLES): "0x5 20000x25 30000x20"},
            at="40m",
            fires=True,
            why="more and more waits",
            labels={},
            value="20k",
        ),
        Case(
            {str(SPOOLED_SAMPLES): "0x5 90000-3000x40"},
            at="30m",
            fires=False,
            why="the store is back and what waited is being written",
        ),
        Case(
            {str(SPOOLED_SAMPLES): "500 0 500 0 500 0 500 0x3 900x2 0x30"},
            at="20m",
            fires=False,
            why="a portion now and then that is written at the next turn",
        ),
    ),
)
