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
from urllib.parse import quote

from fabrichealth.kinds import Severity
from fabrichealth.narrative import story
from fabrichealth.runtime.peer import Peer, PeerError

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

ALERTS = "/api/v2/alerts"

AT_ONCE = 100

REFUSED = 400
"""Status of an answer that takes the rest of what it was told."""

SKEWED = 30.0
"""Seconds by which a clock is wrong enough to be told."""


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


def page_of(external_url: str, incident: str) -> str:
    """Return the address of an incident on our page."""
    return f"{external_url.rstrip('/')}/#/incident/{quote(incident, safe='')}"


class Alertmanager:
    """One Alertmanager; `tell` it of incidents, `run` sends until cancelled."""

    def __init__(
        self, peer: Peer, external_url: str = "", again: float = AGAIN, retry: float = RETRY
    ) -> None:
        """`external_url` is where people find our page; without it alerts lead nowhere."""
        self.peer = peer
        self._external_url = external_url
        self._again = again
        self._retry = retry
        self._open: dict[str, tuple[Labels, Mapping[str, Any]]] = {}
        self._ended: dict[Labels, tuple[Mapping[str, Any], float]] = {}
        """Alerts that are over, and since when, until it has heard so."""
        self._skewed = False
        self._news = asyncio.Event()
        self._refused = False

    def tell(self, incident: Mapping[str, Any]) -> None:
        """Note what an incident has become; it is sent soon."""
        name, labels = incident["incident"], alert_labels(incident)
        former = self._open.pop(name, None)
        if former is not None and former[0] != labels:
            self._ended[former[0]] = former[1], time.time()
        if labels is not None:
            self._ended.pop(labels, None)
            self._open[name] = (labels, incident)
        if former is not None or labels is not None:
            self._news.set()

    @property
    def name(self) -> str:
        """Whom it tells, as messages and metrics show it."""
        return self.peer.shown

    @property
    def up(self) -> bool:
        """Whether it took what it was told last."""
        return not self._refused

    async def run(self) -> None:
        """Send what is new at once and what is open again and again."""
        while True:
            self._news.clear()
            try:
                sent = await self._sent()
            except Exception:  # whatever it is, who pages must not end for it
                log.exception("%s: failed; tried again", self.name)
                sent, self._refused = False, True
            if sent:
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

    async def _sent(self) -> bool:
        """Send all there is to say; return whether it was heard."""
        ended = dict(self._ended)
        try:
            if not self.peer.skew.known:
                # its clock is asked first: an alert whose end lies in its past would tell nobody
                await self.peer.ask("POST", ALERTS, [])
            await self._post(ended)
        except PeerError as wrong:
            if not self._refused:
                log.error("takes no alerts, tried again until it does: %s", wrong)
            self._refused = True
            return False
        if self._refused:
            log.warning("%s takes alerts again", self.name)
        self._refused = False
        for labels, alert in ended.items():
            if self._ended.get(labels) is alert:
                del self._ended[labels]
        return True

    async def _post(self, ended: Mapping[Labels, tuple[Mapping[str, Any], float]]) -> None:
        """Send what is open and what is over; what is refused keeps nothing else from it.

        Raises:
            PeerError: some of it was not taken.
        """
        self._tell_skew()
        until = time.time() + FORGOTTEN
        alerts = [self._alert(labels, one, until) for labels, one in self._open.values()]
        alerts += [self._alert(labels, one, at) for labels, (one, at) in ended.items()]
        refused: PeerError | None = None
        # with nothing to say an empty list is sent: that it would be heard is worth knowing
        for start in range(0, max(len(alerts), 1), AT_ONCE):
            try:
                await self.peer.ask("POST", ALERTS, alerts[start : start + AT_ONCE])
            except PeerError as wrong:
                if wrong.status != REFUSED:
                    raise
                refused = refused or wrong
        if refused is not None:
            raise refused

    def _tell_skew(self) -> None:
        skew = self.peer.skew.seconds
        if (skewed := abs(skew) > SKEWED) and not self._skewed:
            log.warning("%s: its clock is %.0f s %s ours; it is told times by its own clock; set "
                        "both by NTP", self.name, abs(skew),
                        "ahead of" if skew > 0 else "behind")  # fmt: skip
        self._skewed = skewed

    def _alert(self, labels: Labels, incident: Mapping[str, Any], until: float) -> dict[str, Any]:
        """Return an alert as it is sent, its times by the clock of who receives it."""
        name, skew = incident["incident"], self.peer.skew.seconds
        page = page_of(self._external_url, name) if self._external_url else ""
        alert: dict[str, Any] = {
            "labels": dict(labels),
            "annotations": {
                "summary": f"{incident['kind']}: {incident['culprit']['id']} ({name})",
                "description": story(incident),
                "action": incident["action"],
                "runbook": f"alerts/runbooks/{incident['kind']}.md",
            },
            "startsAt": _written(min(incident["opened_at"], until) + skew),
            "endsAt": _written(until + skew),
        }
        return {**alert, "generatorURL": page} if page else alert


def _written(at: float) -> str:
    """Return a time as RFC 3339 has it."""
    return datetime.fromtimestamp(at, UTC).isoformat()
