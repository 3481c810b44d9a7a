"""Follows the silences of the site's Alertmanagers and tells them as maintenance."""

import asyncio
import logging
from collections.abc import Sequence

from fabrichealth.cli._collecting import Collecting
from fabrichealth.runtime.peer import Peer, PeerError
from fabrichealth.runtime.silences import Silence, Taken, silences

log = logging.getLogger("silences")

SILENCES = "/api/v2/silences"

EVERY = 15.0
"""Seconds between two looks."""


async def follow(peers: Sequence[Peer], collecting: Collecting, every: float = EVERY) -> None:
    """Tell silences as events until cancelled; each Alertmanager of a cluster knows them all.

    While none of them answers, what stands goes on to its end.
    """
    journal = collecting.journal
    if journal is None or not peers:
        return
    told = await asyncio.to_thread(journal.since, 0, "event", limit=10_000_000)
    taken, refused, wide = Taken(entry.body for entry in told), set[str](), set[str]()
    while True:
        try:
            looks = await asyncio.gather(
                *(_look(peer, collecting, refused, wide) for peer in peers)
            )
            heard = [found for found in looks if found is not None]
            if heard:
                active = [one for found in heard for one in found]
                for event in taken.news(active, collecting.clock.now()):
                    collecting.note(event)
        except Exception:
            log.exception("silences: failed; tried again in %g s", every)
        await asyncio.sleep(every)


async def _look(
    peer: Peer, collecting: Collecting, refused: set[str], wide: set[str]
) -> list[Silence] | None:
    """Return what one Alertmanager has silenced; None if it does not say, which is told once."""
    topology = collecting.poller.inventory.topology
    try:
        found = silences(await peer.ask("GET", SILENCES), topology, wide)
    except (PeerError, ValueError) as wrong:
        if peer.shown not in refused:
            why = wrong if isinstance(wrong, PeerError) else f"{peer.shown}: is no Alertmanager"
            log.warning("silences are not read, what stands goes on: %s", why)
        refused.add(peer.shown)
        return None
    refused.discard(peer.shown)
    return found
