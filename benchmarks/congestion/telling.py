"""One storm as a person on call reads it, with the tree of those that wait."""

from benchmarks.congestion.cases import case
from benchmarks.congestion.judging import START, Lived, passes
from fabrichealth import narrative

STORY, SEED = "broken_nic", 6
"""A leaf-spine fabric."""


def one_storm() -> str:
    """Return what `fabrichealth explain` prints of a broken NIC after its last poll."""
    told = ""
    for now, incidents in passes(case(STORY, SEED), SEED, Lived()):
        if incidents:
            gravest = max(incidents, key=lambda one: one.severity)
            told = narrative.story(gravest.to_json(), START + now)
    return told
