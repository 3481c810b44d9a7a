"""Restraint: when a statistical finding may wake somebody (detection reference, F2).

Hard states and proven limits page as they are: down, lost, flapping, an error ratio whose lower
bound is beyond the limit, water, breakers. A kind that rests on comparison or trend pages only
with two independent evidences, such as errors and light, and within the site's weekly budget of
false pages; what is held back is a ticket and says why.

What a page costs of the budget is the chance that it is false, learned from the operators'
verdicts on its kind.
"""

from dataclasses import dataclass

from analyzer.incidents.claims import Claim
from analyzer.incidents.word import Record
from analyzer.past import Past
from fabrichealth.kinds import Severity

WEEK = 7 * 86_400.0

PER_LINKS = 10_000


@dataclass(frozen=True)
class Budget:
    """How many false pages a week a fabric may cause."""

    per_week: float
    """Expected false pages that statistical kinds may cause here, by policy and number of links."""

    def left(self, past: Past, now: float) -> float:
        """Return what is left of the last seven days' budget."""
        spent = sum(chance for at, chance in past.spent.values() if at > now - WEEK)
        return self.per_week - spent


def budget_of(per_week_per_10k_links: float, links: int) -> Budget:
    """Return the budget of a fabric of so many links."""
    return Budget(per_week_per_10k_links * links / PER_LINKS)


def witnesses(claim: Claim) -> set[str]:
    """Return the independent evidences of a claim: families of metrics, such as optics or port."""
    return {
        line.metric.name.partition("_")[0]
        for finding in (*claim.findings, *claim.joined)
        for line in finding.evidence
    }


def held_back(
    claim: Claim, known: str | None, budget: Budget, past: Past, record: Record, now: float
) -> str | None:
    """Return why a claim must not page though a finding asks for it; None if it may.

    `known` is the incident it belongs to; one that was paged already has paid.
    """
    asking = [one for one in (*claim.findings, *claim.joined) if one.rank >= Severity.PAGE]
    if not asking or any(not one.kind.statistical for one in asking):
        return None
    if known is not None and known in past.spent:
        return None
    families = witnesses(claim)
    if len(families) < 2:
        return f"one kind of evidence alone ({', '.join(sorted(families))}); a page needs two"
    chance = record.chance_false(claim.kind.name)
    left = budget.left(past, now)
    spent_nothing = left >= budget.per_week > 0
    if chance > left and not spent_nothing:
        return (
            f"the week's budget of {budget.per_week:.2g} false pages has {max(left, 0.0):.2g} left "
            f"and this kind is false {chance:.0%} of the time"
        )
    return None


def pay(claim: Claim, incident: str, past: Past, record: Record, now: float) -> None:
    """Book a page of a statistical kind, once; the bookings of past weeks are let go."""
    hard = any(
        one.rank >= Severity.PAGE and not one.kind.statistical
        for one in (*claim.findings, *claim.joined)
    )
    if claim.severity < Severity.PAGE or hard or incident in past.spent:
        return
    past.spent[incident] = (now, record.chance_false(claim.kind.name))
    for name in [name for name, (at, _) in past.spent.items() if at <= now - 4 * WEEK]:
        del past.spent[name]
