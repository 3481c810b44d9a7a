"""People are called more often than they agreed to."""

from alerts.alert import Alert, Case, Runbook
from alerts.recordings.pages import burn, seen
from fabrichealth.catalogue.verdicts import PAGES, PAGES_ACCEPTED
from fabrichealth.kinds import Severity


def _pages(values: str) -> dict[str, str]:
    """Return pages of a fabric of 10,000 links of which two a day are accepted."""
    domain = '{domain="pod-a"}'
    return {f"{PAGES}{domain}": values, f"{PAGES_ACCEPTED}{domain}": "14x60"}


ALERT = Alert(
    name="FabricPagesTooMany",
    expr=(
        f"({burn(6)} > 10 and {burn(72)} > 1 and {seen(6)} >= 3)"
        f" or ({burn(72)} > 2 and {seen(72)} >= 5)"
    ),
    hold="5m",
    severity=Severity.TICKET,
    summary="Pages come {{ $value | humanize }} times as fast as people on call accept",
    runbook=Runbook(
        meaning="The budget of pages (`pages_accepted_per_week_per_10k_links` of `policy`) is used "
        "up more than ten times as fast as it may be for six hours, or twice as fast for three "
        "days.",
        impact="Who is called too often stops looking; the next page is read late.",
        diagnosis="`fabrichealth status --all` lists the incidents: one cause told many times, "
        "work that nobody announced, or a bad week? "
        "The fleet board shows which kind grew.",
        mitigation="Announce work (`fabrichealth event maintenance`, or a silence that names rack "
        "or device). Call false what is false (`fabrichealth verdict INCIDENT false`): its kind is "
        "believed less. Raise a detector's threshold only after a replay "
        "(`fabrichealth evaluate`).",
    ),
    cases=(
        Case(
            _pages("0x10 0+1x7 7x40"),
            at="30m",
            fires=True,
            why="seven pages within some minutes where two a day are accepted",
            labels={},
            value="14",
        ),
        Case(
            _pages("0x10 1x20 2x30"),
            at="55m",
            fires=False,
            why="two pages in a day, as accepted",
        ),
        Case(
            {
                f'{PAGES}{{domain="pod-a"}}': "0x10 1x40",
                f'{PAGES_ACCEPTED}{{domain="pod-a"}}': "0.1x60",
            },
            at="30m",
            fires=False,
            why="one page of a small fabric is no flood, whatever the ratio",
        ),
    ),
)
