"""HTTP visits of one target: deadline, size limit, TLS and credentials in one place.

A visit has one deadline from the first packet to the last byte, so that a body that never ends
costs no more than one that never starts. A body is measured after it was unpacked. Redirects are
not followed, because credentials would follow them. No message holds a secret.
"""

import asyncio
import base64
import ssl
import zlib
from collections.abc import AsyncIterator, Container, Coroutine, Mapping
from dataclasses import dataclass
from http.client import responses
from typing import Any

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from collectors.source import Target
from collectors.transports.secrets import secret
from fabrichealth.errors import SiteError, SourceUnavailable

_CHUNK = 2**16
_GZIP = 16 + zlib.MAX_WBITS
_UNPACK = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": zlib.MAX_WBITS}
_HINTS = {
    401: "; check user and secret_file",
    403: "; check user and secret_file",
    404: "; check the path in the address",
}


ABSENT = {400, 404, 405, 501}
"""Answers of a service that is there, to what it does not know."""


class NoSuchResource(SourceUnavailable):
    """The target answers, and has nothing of that name."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a target answered: its unpacked body, and the headers that say what it is."""

    body: bytes
    content_type: str
    status: int
    headers: Mapping[str, str]


class HttpClient:
    """The connection to one target; its options are those of the site file.

    `user` with a secret is basic authentication, a secret alone a bearer token. The secret is
    read anew for every visit, so that it may be rotated.

    Raises:
        SiteError: address or options cannot be used; the message says which.
    """

    def __init__(self, target: Target, timeout: float, max_bytes: int) -> None:
        self._target = target
        self._name = target.name
        self._options = target.options
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._session: aiohttp.ClientSession | None = None
        self._address = _address(target)
        self._tls = self._secured()

    @property
    def where(self) -> str:
        """The address, for messages."""
        return _shown(self._address)

    async def get(self, path: str = "", headers: Mapping[str, str] | None = None) -> Reply:
        """Read the address, or a path below its host.

        Raises:
            SourceUnavailable: no answer in time, an answer that is no success, or too much.
        """
        return await self.ask("GET", path, headers=headers)

    async def ask(
        self,
        method: str,
        path: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        also: Container[int] = (),
    ) -> Reply:
        """Make one request; `also` are statuses beside success that the caller understands.

        Raises:
            SourceUnavailable: no answer in time, an answer that is no success, or too much.
        """
        url = self._address.join(URL(path)) if path else self._address
        sent = {"Accept-Encoding": "gzip", **self._credentials(), **(headers or {})}
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._connected().request(
                    method, url, headers=sent, json=json, allow_redirects=False, ssl=self._tls
                ) as response,
            ):
                if response.status not in also:
                    self._check(url, response)
                body = await self._body(url, response)
                kind = response.headers.get("Content-Type", "")
                return Reply(body, kind, response.status, response.headers)
        except TimeoutError:
            raise self._unavailable(url, f"no whole answer within {self._timeout:g} s") from None
        except (aiohttp.ClientError, ssl.SSLError, OSError, ValueError) as wrong:
            raise self._unavailable(url, _reason(wrong)) from None

    async def chunks(
        self, path: str, headers: Mapping[str, str], quiet: float
    ) -> AsyncIterator[bytes]:
        """Yield what a stream without end sends, as it comes; it ends once it is silent for long.

        `quiet` is how many seconds it may be silent: whether its far end lives is not to be seen.

        Raises:
            SourceUnavailable: it did not begin in time, is no success, or broke off.
        """
        url = self._address.join(URL(path)) if path else self._address
        sent = {**self._credentials(), **headers}
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._connected().get(
                    url, headers=sent, allow_redirects=False, ssl=self._tls
                )
            async with response:
                self._check(url, response)
                while chunk := await _within(quiet, response.content.readany()):
                    yield chunk
        except TimeoutError:
            raise self._unavailable(url, f"no answer within {self._timeout:g} s") from None
        except (aiohttp.ClientError, ssl.SSLError, OSError, ValueError) as wrong:
            raise self._unavailable(url, _reason(wrong)) from None

    async def close(self) -> None:
        """Close the connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _unavailable(self, url: URL, why: str) -> SourceUnavailable:
        return SourceUnavailable(f"{self._name}: {_shown(url)}: {why}")

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
            )
        return self._session

    def _secured(self) -> ssl.SSLContext | aiohttp.Fingerprint:
        """Return how the certificate is judged: by its print, a CA of the site, or the system's.

        Raises:
            SiteError: the CA file or the fingerprint cannot be used.
        """
        ca_file, digest = self._options.get("ca_file"), self._options.get("fingerprint")
        if ca_file and digest:
            raise SiteError(f"{self._name}: give ca_file or fingerprint, not both")
        try:
            if digest:
                return aiohttp.Fingerprint(bytes.fromhex(digest.replace(":", "")))
            return ssl.create_default_context(cafile=ca_file or None)
        except (OSError, ValueError) as wrong:
            key = "fingerprint" if digest else f"ca_file {ca_file}"
            why = f" ({wrong.strerror})" if type(wrong) is FileNotFoundError else ""
            raise SiteError(
                f"{self._name}: {key} cannot be used{why}; give a PEM file, or the SHA-256 of "
                "the certificate in hexadecimal digits"
            ) from None

    def _credentials(self) -> dict[str, str]:
        word = secret(self._target)
        if word is None:
            return {}
        user = self._options.get("user")
        if user:
            pair = base64.b64encode(f"{user}:{word}".encode()).decode()
            return {"Authorization": f"Basic {pair}"}
        return {"Authorization": f"Bearer {word}"}

    def _check(self, url: URL, response: aiohttp.ClientResponse) -> None:
        status = response.status
        if 300 <= status < 400:
            raise self._unavailable(url, f"answered {status}, moved; give the new address")
        if status >= 400:
            hint = _HINTS.get(status, "")
            wrong = self._unavailable(
                url, f"answered {status} {responses.get(status, '')}".strip() + hint
            )
            raise NoSuchResource(str(wrong)) if status in ABSENT else wrong

    async def _body(self, url: URL, response: aiohttp.ClientResponse) -> bytes:
        coding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if coding != "identity" and coding not in _UNPACK:
            raise self._unavailable(url, "answered in an encoding that was not asked for")
        unpack = zlib.decompressobj(_UNPACK[coding]) if coding in _UNPACK else None
        parts: list[bytes] = []
        size = 0
        async for chunk in response.content.iter_chunked(_CHUNK):
            try:
                part = unpack.decompress(chunk, self._max_bytes + 1 - size) if unpack else chunk
            except zlib.error:
                raise self._unavailable(url, f"the body is not whole {coding}") from None
            size += len(part)
            if size > self._max_bytes:
                raise self._unavailable(
                    url, f"more than {self._max_bytes} bytes; raise max_bytes, or read less of it"
                )
            parts.append(part)
        if unpack is not None and not unpack.eof:
            raise self._unavailable(url, f"the {coding} body ends in the middle")
        return b"".join(parts)


async def _within(seconds: float, reading: Coroutine[Any, Any, bytes]) -> bytes:
    """Return what is read, nothing where nothing comes for so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            return await reading
    except TimeoutError:
        return b""


def _address(target: Target) -> URL:
    try:
        url = URL(target.address)
    except ValueError:
        url = URL()
    if url.scheme not in {"http", "https"} or not url.host:
        raise SiteError(f"{target.name}: the address must be http:// or https:// and a host")
    if url.password is not None:
        raise SiteError(
            f"{target.name}: a secret stands in the address; write user: and secret_file: instead"
        )
    return url


def _shown(url: URL) -> str:
    """Return an address without user and query, either of which may be a secret."""
    return str(url.with_user(None).with_query(None).with_fragment(None))


def _reason(wrong: Exception) -> str:
    """Return what went wrong in one line, without the words of others that may hold anything."""
    if isinstance(wrong, _UNTRUSTED):
        code = getattr(wrong.certificate_error, "verify_code", None)
        return _CERTIFICATE.get(code, _UNVERIFIED)
    if isinstance(wrong, aiohttp.ClientConnectorError):
        return f"cannot connect ({wrong.os_error.strerror or 'no address'})"
    return next(
        (why for kinds, why in _REASONS if isinstance(wrong, kinds)),
        "the request cannot be made; check address, user and secret",
    )


_UNTRUSTED = aiohttp.ClientConnectorCertificateError
_UNVERIFIED = "the certificate cannot be verified; give ca_file or fingerprint"
_CERTIFICATE: dict[int | None, str] = {
    9: "the certificate is not valid yet; check the clocks of both",
    10: "the certificate has expired; renew it there, or give its fingerprint",
    62: "the certificate is for another name; use that in the address, or give its fingerprint",
    64: "the certificate is for another address; use its name, or give its fingerprint",
}
"""What is wrong with a certificate, by OpenSSL's code (x509_vfy.h)."""
_REASONS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
    (aiohttp.ServerFingerprintMismatch, "the certificate has another fingerprint"),
    (aiohttp.InvalidURL, "the address cannot be used"),
    (aiohttp.ClientPayloadError, "the body ends in the middle"),
    (
        (aiohttp.ClientConnectionError, ConnectionError),
        "the connection was closed before an answer; is it up, and http or https as there?",
    ),
    (
        (aiohttp.ClientResponseError, HttpProcessingError),
        "what answers speaks no HTTP; check host, port and scheme of the address",
    ),
    (ssl.SSLError, "TLS failed; check https and the port of the address"),
    (OSError, "the connection failed; check host, port and network"),
)
"""What went wrong, the first that fits."""
