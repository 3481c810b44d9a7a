"""Several links of one trunk are down together, seen without the analyzer's help."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.ports import ADMIN_UP, PORT_INFO, UP
from fabrichealth.kinds import Severity

LEAST = 3


def info(number: int, bundle: str) -> str:
    """Return the series that says which trunk a port's cable runs in."""
    return f'{PORT_INFO}{{device="leaf-01",port="Ethernet{number}",bundle="{bundle}"}}'


def up(number: int) -> str:
    """Return the series of a port's state."""
    return f'{UP}{{device="leaf-01",port="Ethernet{number}"}}'


def trunk(down: int, bundles: tuple[str, ...]) -> dict[str, str]:
    """Return ports of some trunks of which the first few fall in the sixth minute."""
    series = {up(n): "1x5 0x20" if n < down else "1x30" for n in range(len(bundles))}
    return series | {info(n, bundle): "1x30" for n, bundle in enumerate(bundles)}


FALLEN = (
    f"max by (device, port) ({UP}) == 0 and max by (device, port) (max_over_time({UP}[6h])) == 1 "
    f"unless max by (device, port) ({ADMIN_UP}) == 0"
)

ALERT = Alert(
    name="FabricTrunkDown",
    expr=(
        f"count by (bundle) (({FALLEN}) * on (device, port) group_right () "
        f'(max by (device, port, bundle) ({PORT_INFO}{{bundle!=""}}) + 1)) >= {LEAST}'
    ),
    hold="5m",
    severity=Severity.WATCH,
    covered_by=("bundle",),
    page="parts.shared_component",
    summary="Three or more ports of trunk {{ $labels.bundle }} are down",
    runbook=Runbook(
        meaning="Three or more enabled ports whose cables share a trunk, and that were up within "
        "six hours, have been down for five minutes.",
        impact="Every link of the trunk is at risk. The analyzer's incident names the trunk and "
        "its links; this rule is the safety net under it.",
        diagnosis="Is there an incident for the trunk, or for a switch at one end of it? Do links "
        "of other trunks of the same switch work?",
        mitigation="Look for a bend, a cut or somebody at work along the trunk's route.",
    ),
    cases=(
        Case(
            trunk(3, ("mpo-1", "mpo-1", "mpo-1", "mpo-1")),
            at="15m",
            fires=True,
            why="three of four links of a trunk fell",
            labels={"bundle": "mpo-1"},
        ),
        Case(
            trunk(3, ("mpo-1", "mpo-2", "mpo-3", "mpo-1")),
            at="15m",
            fires=False,
            why="three links fell, of different trunks",
        ),
    ),
)
