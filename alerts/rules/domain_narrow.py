"""A domain's halves can send each other far less than they were built for."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.verdicts import DOMAIN_BISECTION_SHARE
from fabrichealth.kinds import Severity

POD = f'{DOMAIN_BISECTION_SHARE}{{domain="pod-a",network="scale_out"}}'

ALERT = Alert(
    name="FabricDomainNarrow",
    expr=f"max by (domain, network) ({DOMAIN_BISECTION_SHARE}) < 0.75",
    hold="15m",
    severity=Severity.TICKET,
    summary="{{ $labels.network }} of {{ $labels.domain }} carries less than three quarters of "
    "what it was built for between its halves",
    runbook=Runbook(
        meaning="For a quarter of an hour one half of the domain could send the other less than "
        "75 % of what its links were built for, over those that carry something.",
        impact="Jobs that span the domain run at the pace of the narrowest cut, though each link "
        "that is missing may only be a ticket by itself.",
        diagnosis="`fabrichealth status --domain` names the halves, the accelerators with too few "
        "links, and what the next failure would cost each job. A switch or plane that is out shows "
        "in the incidents.",
        mitigation="Return drained links that have their proof; repair first where the named half "
        "lost most. Drain nothing more of it meanwhile.",
    ),
    cases=(
        Case(
            {POD: "1x5 0.6x30"},
            at="25m",
            fires=True,
            why="a plane is out",
            labels={"domain": "pod-a", "network": "scale_out"},
        ),
        Case({POD: "1x5 0.6x10 0.97x20"}, at="25m", fires=False, why="a switch was restarted"),
    ),
)
