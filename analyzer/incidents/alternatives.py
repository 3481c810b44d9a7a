"""Alternatives: who else could have been the culprit, and why it is not.

Two sorts are weighed. What fell ill as well, and is a victim: it came later, or lies behind the
culprit. And what a link shares with others: its devices, trunk and cards, which would show on
more than the one link. The share is the part of what is ill that each would explain.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from analyzer.incidents.chain import UPSTREAM, way
from analyzer.incidents.claims import Claim
from fabrichealth.model import Alternative, Incident, Place
from fabrichealth.narrative import span
from fabrichealth.topology import Link, Topology

KEPT = 6


def consider(incident: Incident, claim: Claim, topology: Topology) -> None:
    """Note of each thing that a claim made a victim why it is not the culprit."""
    known = {other.culprit for other in incident.alternatives}
    every = len(incident.victims) + 1
    for rival in sorted(claim.rivals, key=lambda one: one.since):
        if rival.place in known or rival.place == incident.culprit:
            continue
        if sum(_is_rival(other) for other in incident.alternatives) >= KEPT:
            return
        known.add(rival.place)
        later = rival.since - incident.opened_at
        when = f"began {span(later)} later" if later >= 1.0 else "did not begin before it"
        why = f"{rival.kind} there {when} and follows from it"
        if incident.kind in UPSTREAM:
            why = f"{why}: {' > '.join(way(incident.culprit, rival.place, topology))}"
        incident.alternatives.append(Alternative(rival.place, round(1 / every, 4), why))


def overruled(incident: Incident, former: Place) -> None:
    """Note why the culprit accused until now is a victim: a graver cause explains it as well."""
    if former == incident.culprit or any(one.culprit == former for one in incident.alternatives):
        return
    why = f"accused from its first evidence on; {incident.culprit} explains it and more"
    share = round(1 / (len(incident.victims) + 1), 4)
    incident.alternatives.insert(0, Alternative(former, share, why))


def _is_rival(other: Alternative) -> bool:
    return not other.why_not.startswith(RULED_OUT)


RULED_OUT = "only "


@lru_cache(maxsize=2)
def links_of_parts(topology: Topology) -> Mapping[Place, Sequence[Link]]:
    """Return the links of each device, trunk and card."""
    found: dict[Place, list[Link]] = defaultdict(list)
    for link in topology.links.values():
        for place in shared_by(link):
            found[place].append(link)
    return found


def shared_by(link: Link) -> list[Place]:
    """Return what a link has in common with others: devices, trunk, cards."""
    places = [Place("device", end.device) for end in link.ends]
    places += [Place("bundle", link.bundle)] if link.bundle else []
    places += [Place("card", card) for card in (link.card_a, link.card_b) if card]
    return places


def ill_links(incidents: Iterable[Incident], topology: Topology) -> Counter[Place]:
    """Return how many links with an open incident each device, trunk and card has."""
    return Counter(
        place
        for incident in incidents
        if (link := topology.links.get(incident.culprit.id)) is not None
        for place in shared_by(link)
    )


def rule_out(incident: Incident, ill: Mapping[Place, int], topology: Topology) -> None:
    """Say of each thing that a link shares with others how few of them are ill."""
    link = topology.links.get(incident.culprit.id)
    if link is None:
        return
    every = links_of_parts(topology)
    ruled = [
        Alternative(
            place,
            round(ill[place] / len(every[place]), 4),
            f"{RULED_OUT}{ill[place]} ill of its {len(every[place])} links",
        )
        for place in shared_by(link)
        if len(every[place]) > 1 and 2 * ill[place] < len(every[place])
    ]
    ruled.sort(key=lambda one: -one.share)
    rivals = [other for other in incident.alternatives if _is_rival(other)]
    incident.alternatives = rivals + ruled
