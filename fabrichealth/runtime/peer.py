"""Peer: one HTTP server that the daemon tells or asks something; every failure is one line.

Redirects are not followed, because credentials would follow them. The secret is read at each
request, so that one which was renewed counts at once; no message holds it.
"""

import asyncio
import base64
import os
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import NamedTuple

import aiohttp
import orjson

from fabrichealth.address import shown
from fabrichealth.config import Receiver
from fabrichealth.errors import FabricHealthError, SiteError

PATIENCE = 5.0
"""Seconds for one request and its whole answer."""

MOST = 16 * 2**20
"""Bytes of an answer that are read."""

SAME = 5.0
"""Seconds by which two clocks may differ and count as one; a `Date` is of whole seconds."""

SAID = 200
"""Letters of a complaint that are repeated."""


class PeerError(FabricHealthError):
    """It did not answer, or refused; `status` is 0 where nothing answered."""

    def __init__(self, said: str, status: int = 0) -> None:
        super().__init__(said)
        self.status = status


class Credentials(NamedTuple):
    """`user` with a secret is basic authentication, a secret alone a bearer token."""

    user: str = ""
    secret_file: Path | None = None
    secret_env: str = ""

    def secret(self) -> str:
        """Return the secret; nothing where none is named.

        Raises:
            SiteError: it cannot be read.
        """
        if self.secret_env:
            if self.secret_env not in os.environ:
                raise SiteError(f"environment variable {self.secret_env} is not set; set it")
            return os.environ[self.secret_env]
        if self.secret_file is None:
            return ""
        try:
            return self.secret_file.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as wrong:
            why = wrong.strerror if isinstance(wrong, OSError) else "is no text"
            raise SiteError(f"{self.secret_file}: cannot be read ({why}); check it") from None

    def headers(self) -> dict[str, str]:
        """Return what a request says of who asks.

        Raises:
            SiteError: the secret cannot be read.
        """
        secret = self.secret()
        if self.user:
            pair = base64.b64encode(f"{self.user}:{secret}".encode()).decode()
            return {"Authorization": f"Basic {pair}"}
        return {"Authorization": f"Bearer {secret}"} if secret else {}


@dataclass
class Skew:
    """How far a peer's clock is ahead of ours, by the `Date` of its answers (RFC 9110, 6.6.1)."""

    seconds: float = 0.0
    known: bool = False
    """Whether it has answered yet."""

    def learn(self, date: str | None, now: float) -> None:
        """Take what an answer's header says; one without a usable date says that all is well."""
        try:
            found = parsedate_to_datetime(date or "").timestamp() - now
        except (ValueError, TypeError, OverflowError):
            found = 0.0
        if not self.known or abs(found - self.seconds) > SAME:
            self.seconds = found if abs(found) > SAME else 0.0
        self.known = True


@dataclass(frozen=True)
class Peer:
    """An address, and how to be known there."""

    url: str
    credentials: Credentials = field(default_factory=Credentials)
    ca_file: Path | None = None
    patience: float = PATIENCE
    skew: Skew = field(default_factory=Skew, compare=False)

    @classmethod
    def of(cls, row: Receiver) -> "Peer":
        """Return the peer that a row of the site file names."""
        known = Credentials(row.user, row.secret_file, row.secret_env)
        return cls(row.url, known, row.ca_file)

    @property
    def shown(self) -> str:
        """The address as messages may show it."""
        return shown(self.url.rstrip("/"))

    async def ask(
        self,
        method: str,
        path: str = "",
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Return what it answers; a body is sent as JSON, or as it is if it is bytes.

        Raises:
            PeerError: it does not answer, refuses, or answers more than anybody would.
        """
        sent: bytes | None = None
        told = {"Accept": "application/json"}
        if body is not None:
            sent = body if isinstance(body, bytes) else orjson.dumps(body)
            told["Content-Type"] = "application/json"
        try:
            told |= {**self.credentials.headers(), **(headers or {})}
            context = await asyncio.to_thread(self._context)
            patience = aiohttp.ClientTimeout(total=self.patience)
            async with (
                aiohttp.ClientSession(timeout=patience) as session,
                session.request(
                    method, self.url.rstrip("/") + path, data=sent, headers=told, ssl=context,
                    allow_redirects=False,
                ) as reply,
            ):  # fmt: skip
                self.skew.learn(reply.headers.get("Date"), time.time())
                return await self._read(reply)
        except SiteError as wrong:
            raise PeerError(f"{self.shown}: {wrong}") from None
        except TimeoutError:
            raise PeerError(f"{self.shown}: no answer within {self.patience:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as wrong:
            why = " ".join(str(wrong).split())[:SAID] or type(wrong).__name__
            raise PeerError(f"{self.shown}: does not answer ({why})") from None

    def _context(self) -> ssl.SSLContext | bool:
        if self.ca_file is None or not self.url.startswith("https:"):
            return True
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except OSError as wrong:  # an SSLError too: what is there is no certificate
            raise SiteError(f"{self.ca_file}: no certificates ({wrong}); check ca_file") from None

    async def _read(self, reply: aiohttp.ClientResponse) -> bytes:
        most = SAID * 4 if reply.status >= 300 else MOST
        body = b""
        async for piece in reply.content.iter_chunked(65_536):
            body += piece
            if len(body) > most:
                break
        if reply.status >= 300:
            said = " ".join(body.decode("utf-8", "replace").split())[:SAID]
            more = f": {said}" if said else ""
            raise PeerError(f"{self.shown}: refuses ({reply.status}{more})", reply.status)
        if len(body) > MOST:
            raise PeerError(f"{self.shown}: answers more than {MOST} bytes")
        return body
