"""How many links are in which state."""

from alerts.recording import Recording, Worked
from fabrichealth.catalogue.verdicts import LINK_STATE


def _state(link: str, state: str) -> str:
    return f'{LINK_STATE}{{link="{link}",state="{state}"}}'


LINKS = {
    _state("a/1--b/1", "healthy"): "1x10",
    _state("a/2--b/2", "healthy"): "1x10",
    _state("a/3--b/3", "healthy"): "1x4 stale",
    _state("a/3--b/3", "down"): "_x5 1x6",
    _state("a/4--b/4", "unknown"): "1x10",
}
BY_STATE = f'count by (state) (max by (link, state) ({LINK_STATE}{{side=""}}) == 1)'

RECORDING = Recording(
    name=f"state:{LINK_STATE}:ratio",
    expr=f'{BY_STATE} / on () group_left () count(max by (link) ({LINK_STATE}{{side=""}}) == 1)',
    means="Share of all links that are in each state, each link as a whole.",
    proofs=(
        Worked(
            LINKS,
            at="8m",
            gives={'state="healthy"': 0.5, 'state="down"': 0.25, 'state="unknown"': 0.25},
            why="two of four are healthy; one fell, of one it is not known",
        ),
    ),
)
