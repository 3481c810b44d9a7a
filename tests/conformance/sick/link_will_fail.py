"""The errors that FEC repairs grow by an eighth of a dB an hour, for two days."""

from analyzer.evidence.optics.noise import ber_of
from fabrichealth.catalogue.ports import PRE_FEC_BER
from tests.conformance.recipe import Recipe
from tests.conformance.world import World

LABELS = ("host-0", "eth0")
START_DB = 21.9
"""Signal at which one bit in 1e8 is wrong."""

DB_PER_DAY = 0.7


def worse(world: World) -> None:
    """Counters stand still on the healthy pod; this port reports a ratio that grows."""
    world.change(PRE_FEC_BER, LABELS, lambda after: ber_of(START_DB - DB_PER_DAY * after / 86_400))


SICK = Recipe(worse, lasts=2.5 * 86_400, least_period=600.0)
