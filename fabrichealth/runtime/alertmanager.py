"""Alertmanager: tells it of open incidents, again before it forgets, and when they close.

For sites without a Prometheus that evaluates our rules, or as a second path beside one: the
labels are those of the rules `FabricIncidentPage` and `FabricIncidentTicket`, so an Alertmanager
that hears of an incident both ways holds one alert (its API v2, `POST /api/v2/alerts`).

Telling never waits: what is to be sent is noted, and one task sends it.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import aiohttp

from fabrichealth.kinds import Severity
from fabrichealth.narrative import story

log = logging.getLogger(__name__)

Labels = tuple[tuple[str, str], ...]

TOLD = frozenset({str(Severity.PAGE), str(Severity.TICKET)})
"""Severities that somebody is told of."""

AGAIN = 60.0
"""Seconds after which open alerts are sent again."""

FORGOTTEN = 300.0
"""Alertmanager ends an alert by itself this many seconds after it last heard of it."""

RETRY = 10.0
"""Seconds between attempts while it does not answer."""

PATIENCE = 5.0
AT_ONCE = 100


def alert_labels(incident: Mapping[str, Any]) -> Labels | None:
    """Return the labels that name an incident's alert; None if nobody is to be told of it."""
    silent = (incident.get("operator") or {}).get("silent", False)
    told = incident["severity"] in TOLD and incident["suppressed_by"] is None and not silent
    if not told or incident["closed_at"] is not None:
        return None
    labels = {
        "alertname": f"FabricIncident{incident['severity'].title()}",
        "severity": incident["severity"],
        "incident": incident["incident"],
        "kind": incident["kind"],
        "culprit": incident["culprit"]["id"],
        "domain": incident["domain"] or "",
        "cause": incident["cause"] or "",
        **incident.get("owner", {}),
    }
    return tuple(sorted((name, text) for name, text in labels.items() if text))


class Alertmanager:
    """One Alertmanager; `tell` it of incidents, `run` sends until cancelled."""

    def __init__(self, url: str, again: float = AGAIN, retry: float = RETRY) -> None:
        self._address = f"{url.rstrip('/')}/api/v2/alerts"
        self._again = again
        self._retry = retry
        self._open: dict[str, tuple[Labels, Mapping[str, Any]]] = {}
        self._ended: dict[Labels, dict[str, Any]] = {}
        """Alerts that are over, until it has heard so."""
        self._news = asyncio.Event()
        self._refused = False

    def tell(self, incident: Mapping[str, Any]) -> None:
        """Note what an incident has become; it is sent soon."""
        name, labels = incident["incident"], alert_labels(incident)
        former = self._open.pop(name, None)
        if former is not None and former[0] != labels:
            self._ended[former[0]] = _alert(former[0], former[1], time.time())
        if labels is not None:
            self._ended.pop(labels, None)
            self._open[name] = (labels, incident)
        if former is not None or labels is not None:
            self._news.set()

    async def run(self) -> None:
        """Send what is new at once and what is open again and again."""
        patience = aiohttp.ClientTimeout(total=PATIENCE)
        async with aiohttp.ClientSession(timeout=patience) as session:
            while True:
                self._news.clear()
                if await self._sent(session):
                    await self._quiet(self._again)
                else:
                    await asyncio.sleep(self._retry)

    async def _quiet(self, seconds: float) -> None:
        """Wait for news, or so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return

    async def _sent(self, session: aiohttp.ClientSession) -> bool:
        """Send all there is to say; return whether it was heard."""
        ended = dict(self._ended)
        until = time.time() + FORGOTTEN
        alerts = [_alert(labels, incident, until) for labels, incident in self._open.values()]
        alerts += ended.values()
        try:
            for start in range(0, len(alerts), AT_ONCE):
                portion = alerts[start : start + AT_ONCE]
                async with session.post(self._address, json=portion) as reply:
                    if reply.status >= 300:
                        return self._not_heard(f"{reply.status} {(await reply.text()).strip()}")
        except (aiohttp.ClientError, TimeoutError, OSError) as wrong:
            return self._not_heard(str(wrong) or f"no answer within {PATIENCE:g} s")
        if self._refused:
            log.warning("%s takes alerts again", self._address)
        self._refused = False
        for labels, alert in ended.items():
            if self._ended.get(labels) is alert:
                del self._ended[labels]
        return True

    def _not_heard(self, why: str) -> bool:
        if not self._refused:
            log.error("%s takes no alerts (%s); tried again until it does", self._address, why)
        self._refused = True
        return False


def _alert(labels: Labels, incident: Mapping[str, Any], until: float) -> dict[str, Any]:
    return {
        "labels": dict(labels),
        "annotations": {
            "summary": f"{incident['kind']}: {incident['culprit']['id']} ({incident['incident']})",
            "description": story(incident),
            "runbook": f"alerts/runbooks/{incident['kind']}.md",
        },
        "startsAt": _written(min(incident["opened_at"], until)),
        "endsAt": _written(until),
    }


def _written(at: float) -> str:
    """Return a time as RFC 3339 has it."""
    return datetime.fromtimestamp(at, UTC).isoformat()
