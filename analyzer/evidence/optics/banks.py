"""Laser banks: one external source that feeds several ports.

Co-packaged optics take their light from modules of lasers (ELSFP), written as `lasers_a` and
`lasers_b` of the links. Many ports of one bank losing light together are one ill bank, not so
many ill transmitters.
"""

from collections import defaultdict
from collections.abc import Iterable

from fabrichealth.model import Port
from fabrichealth.topology import Topology

LEAST = 2
"""So many ports of a bank must be dim together."""

SHARE = 0.5
"""And such a share of those whose light is known: a single laser of it feeds only a few."""


def banks(topology: Topology) -> dict[Port, str]:
    """Return the laser bank of each port that has one."""
    return {
        end: bank
        for link in topology.links.values()
        for end, bank in zip(link.ends, (link.lasers_a, link.lasers_b), strict=True)
        if bank
    }


def ill_banks(dim: Iterable[Port], told: Iterable[Port], of: dict[Port, str]) -> set[str]:
    """Return the banks whose ports are dim together.

    `dim` are the ports that send less light than they did, `told` those of which it is known.
    """
    ill: dict[str, int] = defaultdict(int)
    known: dict[str, int] = defaultdict(int)
    for port in set(dim):
        if port in of:
            ill[of[port]] += 1
    for port in set(told):
        if port in of:
            known[of[port]] += 1
    return {bank for bank, count in ill.items() if count >= max(LEAST, SHARE * known[bank])}
