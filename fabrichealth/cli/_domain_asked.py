"""What became of a domain, as a running daemon is asked for it."""

import asyncio
import math
from collections.abc import Mapping

from aiohttp import web

from fabrichealth.cli._collecting import Collecting
from fabrichealth.cli._domain_rows import Known, Row, domain_rows, readable
from fabrichealth.cli._domains import LONGEST, SHORTEST
from fabrichealth.cli._incidents import events_of
from fabrichealth.errors import UsageError

WEEK = 7 * 86_400.0


async def asked_of(collecting: Collecting, query: Mapping[str, str]) -> list[Row]:
    """Return the rows of `domain=`, over the last `seconds=`; worked out beside the event loop.

    Raises:
        HTTPBadRequest: no usable span.
        HTTPNotFound: there is no such domain, or no store.
    """
    if collecting.store is None:
        raise web.HTTPNotFound(text="no series are kept here; ask where `run` is\n")
    try:
        seconds = float(query.get("seconds", WEEK))
    except ValueError:
        seconds = math.nan
    if not SHORTEST <= seconds <= LONGEST:
        raise web.HTTPBadRequest(text="seconds= is a number from a minute to a year\n")
    known = Known(
        collecting.store,
        collecting.poller.inventory.topology,
        readable(collecting.incidents.values()),
        [] if collecting.journal is None else events_of(collecting.journal),
        collecting.setup.site.policy.capacity_floor,
        collecting.clock.now(),
    )
    try:
        return await asyncio.to_thread(domain_rows, known, query.get("domain", ""), seconds)
    except UsageError as wrong:
        raise web.HTTPNotFound(text=f"{wrong}\n") from None
