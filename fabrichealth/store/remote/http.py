"""Http: one server of series, asked over HTTP; every failure is one line with a remedy."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import urlencode

import orjson
import urllib3
from urllib3.exceptions import HTTPError

from fabrichealth.address import shown
from fabrichealth.errors import SiteError, StoreError
from fabrichealth.store.remote.settings import Access

PIECE = 4 * 2**20
"""Bytes of an answer that are handed on at a time."""

SAID = 200
"""Letters of a server's complaint that are repeated."""

CONTENT = frozenset({400, 413, 422})
"""Statuses that are about what was sent, and not about who sent it where."""

TOO_OLD = "too old sample"
"""Said by Prometheus with status 500 up to 2.42 at least; it will not be younger next time."""

STRANGERS = frozenset({401, 403, 407})

NO_SUCH_PATH = frozenset({404, 405})


class Refused(StoreError):
    """The server will not have what was sent, whenever it is sent."""

    def __init__(self, said: str, status: int) -> None:
        super().__init__(said)
        self.status = status


class Unavailable(StoreError):
    """The server does not answer, is too busy, knows us not, or is another: later it may do it."""

    def __init__(self, said: str, status: int = 0) -> None:
        """`status` is 0 where nothing answered."""
        super().__init__(said)
        self.status = status


class Asks(Protocol):
    """What readers need of a server."""

    def pieces(self, path: str, form: Mapping[str, str]) -> Iterator[bytes]:
        """Yield the answer to a form that is posted."""
        ...

    def whole(self, path: str, form: Mapping[str, str]) -> bytes:
        """Return the answer to a form that is posted."""
        ...


class Posts(Protocol):
    """What those who ask in JSON need of a server, as InfluxDB 2 and 3 want it."""

    def json(self, path: str, query: Mapping[str, str], asked: Mapping[str, object]) -> bytes:
        """Return the answer to an object that is posted."""
        ...


class Http:
    """Connections to one address, used by several threads."""

    def __init__(self, address: str, access: Access, timeout: float) -> None:
        """`address` is what paths are behind.

        Raises:
            SiteError: a file with a secret or certificate cannot be read.
        """
        self._address = address.rstrip("/")
        self._access = access
        self._timeout = timeout
        if access.ca_file is not None and not access.ca_file.is_file():
            raise SiteError(f"store: ca_file {access.ca_file} is not there; check the path")
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(timeout), retries=False, maxsize=4,
            ca_certs=None if access.ca_file is None else str(access.ca_file),
        )  # fmt: skip
        self._headers = _credentials(access)

    @property
    def shown(self) -> str:
        """The address as messages may show it."""
        return shown(self._address)

    def pieces(self, path: str, form: Mapping[str, str]) -> Iterator[bytes]:
        """Yield the answer to a form that is posted, some megabytes at a time.

        Raises:
            Refused: the server will not answer this.
            Unavailable: it does not answer now.
        """
        typed = {"Content-Type": "application/x-www-form-urlencoded"}
        yield from self._stream(self._sent("POST", path, urlencode(form).encode(), typed))

    def whole(self, path: str, form: Mapping[str, str]) -> bytes:
        """Return the answer to a form that is posted.

        Raises:
            Refused: the server will not answer this.
            Unavailable: it does not answer now.
        """
        return b"".join(self.pieces(path, form))

    def json(self, path: str, query: Mapping[str, str], asked: Mapping[str, object]) -> bytes:
        """Return the answer to an object that is posted.

        Raises:
            Refused: the server will not answer this.
            Unavailable: it does not answer now.
        """
        where = f"{path}?{urlencode(query)}" if query else path
        reply = self._sent("POST", where, orjson.dumps(asked), {"Content-Type": "application/json"})
        return self._read(reply)

    def _read(self, reply: urllib3.BaseHTTPResponse) -> bytes:
        return b"".join(self._stream(reply))

    def _stream(self, reply: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
        try:
            yield from reply.stream(PIECE, decode_content=True)
        except HTTPError as wrong:
            raise silence(self.shown, wrong) from None
        finally:
            reply.release_conn()

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> None:
        """Give the server something to keep.

        Raises:
            Refused: it will not have it, now or later.
            Unavailable: it does not take it now.
        """
        reply = self._sent("POST", path, body, headers)
        try:
            reply.drain_conn()
        finally:
            reply.release_conn()

    def close(self) -> None:
        """Let go of the connections."""
        self._pool.clear()

    def _sent(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> urllib3.BaseHTTPResponse:
        try:
            reply = self._pool.request(
                method, self._address + path, body=body, preload_content=False, redirect=False,
                headers={**self._headers, **headers},
            )  # fmt: skip
        except HTTPError as wrong:
            raise silence(self.shown, wrong) from None
        if 200 <= reply.status < 300:
            return reply
        try:
            said = reply.read(4096).decode("utf-8", "replace")
        except HTTPError:
            said = ""
        finally:
            reply.drain_conn()
            reply.release_conn()
        raise complaint(self.shown, reply.status, said, self._access)


def silence(where: str, wrong: Exception) -> Unavailable:
    """Return that nothing came of asking, and why."""
    return Unavailable(
        f"{where}: does not answer ({_why(wrong)}); is it running, and the address right?"
    )


def complaint(where: str, status: int, said: str, access: Access) -> StoreError:
    """Return what a server's refusal means to us, as one line."""
    said = " ".join(said.split())[:SAID]
    more = f": {said}" if said else ""
    if status in CONTENT or TOO_OLD in said:
        return Refused(f"{where}: refuses ({status}{more})", status)
    if status in STRANGERS:
        why = f"wants other credentials ({status}{more}); check {access.remedy}"
    elif status in NO_SUCH_PATH:
        why = f"has nothing at that path ({status}{more}); check the address, and what runs there"
    elif 300 <= status < 400:
        why = f"sends us elsewhere ({status}); give the address that it sends to"
    else:
        why = f"cannot do it now ({status}{more}); see its own log"
    return Unavailable(f"{where}: {why}", status)


def _credentials(access: Access) -> dict[str, str]:
    found: dict[str, str] = {}
    if access.tenant:
        found["X-Scope-OrgID"] = access.tenant
    if access.token_file is not None:
        found["Authorization"] = f"{access.scheme} {secret(access.token_file)}"
    elif access.user:
        word = "" if access.password_file is None else secret(access.password_file)
        found |= urllib3.make_headers(basic_auth=f"{access.user}:{word}")
    return found


def secret(path: Path) -> str:
    """Return what a file says.

    Raises:
        SiteError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as wrong:
        why = getattr(wrong, "strerror", "") or "no text"
        raise SiteError(f"store: {path} cannot be read ({why}); check path and rights") from None


def _why(wrong: Exception) -> str:
    """Return what happened without the address, which may hold more than is to be shown."""
    reason = getattr(wrong, "reason", None) or wrong
    text = str(reason).rpartition(": ")[2] if "object at 0x" in str(reason) else str(reason)
    return " ".join(text.split())[:SAID] or type(reason).__name__
