"""Blame: what a receiver's errors alone say of their cause, before light and heat are heard.

A receiver's counter accuses the path into it: the far transmitter, the cable, the receiver.
Corruption is nearly always one-directional (about 8 % of corrupting links both ways, CorrOpt,
SIGCOMM 2017); where both ends suffer, what they share comes first.
"""

from collections.abc import Mapping

from fabrichealth.kinds import Cause
from fabrichealth.topology import Link

COPPER = frozenset({"dac", "acc", "aec", "backplane"})

Weights = Mapping[Cause, float]

ONE_WAY: Weights = {
    Cause.CONTAMINATED_CONNECTOR: 0.3, Cause.LOOSE_OR_BAD_MODULE: 0.3, Cause.UNKNOWN: 0.4,
}  # fmt: skip
BURSTS: Weights = {
    Cause.CONTAMINATED_CONNECTOR: 0.4, Cause.LOOSE_OR_BAD_MODULE: 0.35, Cause.UNKNOWN: 0.25,
}  # fmt: skip
BOTH_WAYS: Weights = {
    Cause.DAMAGED_FIBER: 0.4, Cause.LOOSE_OR_BAD_MODULE: 0.2, Cause.SHARED_COMPONENT: 0.1,
    Cause.UNKNOWN: 0.3,
}  # fmt: skip
OF_COPPER: Weights = {
    Cause.COPPER_CABLE: 0.5, Cause.LOOSE_OR_BAD_MODULE: 0.2, Cause.HOST_ELECTRICAL: 0.1,
    Cause.UNKNOWN: 0.2,
}  # fmt: skip
OF_BOARD: Weights = {
    Cause.HOST_ELECTRICAL: 0.4, Cause.LOOSE_OR_BAD_MODULE: 0.2, Cause.UNKNOWN: 0.4,
}  # fmt: skip


def weights(link: Link | None, *, both_ways: bool, bursts: bool) -> Weights:
    """Return how likely each cause is; the incident joins them with its other evidence."""
    if link is not None and link.technology in {"pcie", "cxl"}:
        return OF_BOARD
    if link is not None and link.medium in COPPER:
        return OF_COPPER
    if both_ways:
        return BOTH_WAYS
    return BURSTS if bursts else ONE_WAY
