"""Busy: services that ask to be left alone for a while (503 or 429, and Retry-After).

One place alone may be out of order, and its service well; two such answers in a row are the
service's own, and then it is left alone for as long as it asks.
"""

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from fabrichealth.errors import SourceUnavailable

STATUSES = frozenset({429, 503})

LONGEST = 600.0
"""Seconds; who asks to be left alone for longer may be well again before."""


class Resting(SourceUnavailable):
    """The service asked to be left alone for a while, which is not over."""


class Rest:
    """Until when one service is left alone; moments are the loop's."""

    def __init__(self) -> None:
        self._until = float("-inf")
        self._again = False

    def left(self, now: float) -> float:
        """Return for how many seconds more it is to be left alone, 0 if it may be asked."""
        return max(self._until - now, 0.0)

    def answered(self, status: int, headers: Mapping[str, str], now: float) -> float | None:
        """Take note of an answer; return for how many seconds it asks, None if it is not busy."""
        again, self._again = self._again, status in STATUSES
        if not self._again:
            return None
        wait = retry_after(headers)
        if again:
            self._until = now + wait
        return wait


def retry_after(headers: Mapping[str, str]) -> float:
    """Return for how many seconds a service asks to be left alone (RFC 9110, 10.2.3).

    At most `LONGEST`; 0 where it does not say. A date is held against the service's own `Date`:
    its clock need not be ours.
    """
    said = headers.get("Retry-After", "").strip()
    if said.isascii() and said.isdecimal():
        return min(float(said[:10]), LONGEST)
    until, now = _moment(said), _moment(headers.get("Date", ""))
    if until is None or now is None or (until.tzinfo is None) != (now.tzinfo is None):
        return 0.0
    return min(max((until - now).total_seconds(), 0.0), LONGEST)


def _moment(said: str) -> datetime | None:
    try:
        return parsedate_to_datetime(said)
    except (ValueError, OverflowError):
        return None
