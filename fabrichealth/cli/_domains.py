"""What became of a domain, from the store and journal of a site, or from a running daemon."""

import argparse
from urllib.parse import urlencode

from fabrichealth.cli._domain_rows import Known, Row, domain_rows, readable
from fabrichealth.cli._incidents import incidents, rows, told
from fabrichealth.cli._site import load
from fabrichealth.errors import UsageError
from fabrichealth.settings import seconds_of

SHORTEST = 60.0
LONGEST = 366 * 86_400.0
"""Seconds: the store keeps a year."""

PATIENCE = 300.0
"""Seconds for an answer: a year of a large domain is a lot to read."""


def span_of(text: str) -> float:
    """Return a span of time in seconds.

    Raises:
        UsageError: it is none, or longer than anything is kept.
    """
    try:
        found = float(seconds_of(text))
    except ValueError as wrong:
        raise UsageError(f"--for {text}: {wrong}") from None
    if not SHORTEST <= found <= LONGEST:
        raise UsageError(f"--for {text}: from a minute to a year, such as 7d")
    return found


def rows_of_domain(asked: argparse.Namespace, domain: str, seconds: float) -> list[Row]:
    """Return the rows of a domain where `--config` or `--url` says.

    Raises:
        UsageError: there is no such domain.
        SourceUnavailable: the daemon does not answer, or keeps no series.
        StoreError: the site has no store or no journal yet.
    """
    if asked.config is None:
        query = urlencode({"domain": domain, "seconds": seconds})
        return rows(asked, f"/api/v1/domain?{query}", PATIENCE)
    setup = load(asked.config)
    every, events = readable(incidents(asked)), told(asked.config)
    store = setup.store.reader()
    try:
        span = store.span()
        floor, now = setup.site.policy.capacity_floor, span[1] if span else 0.0
        known = Known(store, setup.topology, every, events, floor, now)
        return domain_rows(known, domain, seconds)
    finally:
        store.close()
