"""Who may talk to us: the web-config file of Prometheus exporters, and a bearer token beside it.

`tls_server_config`, `http_server_config` and `basic_auth_users` are those of the exporters'
toolkit (its docs/web-configuration.md); `bearer_token_file` is our addition. Paths in the file
are relative to it. The token is read anew for every request, so that it may be rotated.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import bcrypt
from pydantic import BaseModel, ConfigDict, Field

from fabrichealth.errors import SiteError
from fabrichealth.yamlfile import load

_NOBODY = bcrypt.hashpw(b"", bcrypt.gensalt(10))
"""Checked for users that do not exist, so that they take as long as those that do."""

_REMEMBERED = 100
"""Passwords found right are remembered as digests: bcrypt is slow on purpose."""

ClientAuth = Literal[
    "NoClientCert",
    "RequestClientCert",
    "RequireAnyClientCert",
    "VerifyClientCertIfGiven",
    "RequireAndVerifyClientCert",
]
_CLIENTS = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
_VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tls(_Section):
    """Certificate of the server, and what is asked of clients."""

    cert_file: str
    key_file: str
    client_ca_file: str = ""
    client_auth_type: ClientAuth | None = None
    min_version: Literal["TLS12", "TLS13"] = "TLS12"


class Http(_Section):
    """Headers of every answer; HTTP/2 is accepted as a word and not spoken."""

    http2: bool = True
    headers: Mapping[str, str] = Field(default_factory=dict)


class WebConfig(_Section):
    """The file."""

    tls_server_config: Tls | None = None
    http_server_config: Http = Http()
    basic_auth_users: Mapping[str, str] = Field(default_factory=dict)
    bearer_token_file: str = ""


class Access:
    """Judges requests by a web-config; without one everybody may read and nobody may write."""

    def __init__(self, config: WebConfig | None = None, folder: Path = Path()) -> None:
        self._config = config or WebConfig()
        self._folder = folder
        self._right: dict[bytes, None] = {}
        self.headers = dict(self._config.http_server_config.headers)

    @property
    def guarded(self) -> bool:
        """Whether reading needs credentials."""
        return bool(self._config.basic_auth_users or self._config.bearer_token_file)

    @property
    def schemes(self) -> list[str]:
        """Ways to say who one is, as WWW-Authenticate names them."""
        ways = {"Basic": self._config.basic_auth_users, "Bearer": self._config.bearer_token_file}
        return [f'{way} realm="fabrichealth"' for way, used in ways.items() if used]

    async def may_read(self, authorization: str) -> bool:
        """Return whether these credentials let somebody read."""
        if not self.guarded or self.may_write(authorization):
            return True
        way, _, said = authorization.partition(" ")
        if way.lower() != "basic" or not self._config.basic_auth_users:
            return False
        try:
            user, colon, password = base64.b64decode(said.strip(), validate=True).partition(b":")
            name = user.decode()
        except (binascii.Error, UnicodeDecodeError):
            return False
        return bool(colon) and await self._password(name, password)

    def may_write(self, authorization: str) -> bool:
        """Return whether these credentials hold the token, which writing needs."""
        way, _, said = authorization.partition(" ")
        if way.lower() != "bearer" or not self._config.bearer_token_file:
            return False
        try:
            token = (self._folder / self._config.bearer_token_file).read_bytes().strip()
        except OSError:
            return False
        return bool(token) and hmac.compare_digest(token, said.strip().encode())

    def tls(self) -> ssl.SSLContext | None:
        """Return how connections are encrypted, None if they are not.

        Raises:
            SiteError: certificate, key or CA cannot be used.
        """
        given = self._config.tls_server_config
        if given is None:
            return None
        usual = "RequireAndVerifyClientCert" if given.client_ca_file else "NoClientCert"
        kind = given.client_auth_type or usual
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = _VERSIONS[given.min_version]
        try:
            context.load_cert_chain(self._folder / given.cert_file, self._folder / given.key_file)
            if given.client_ca_file:
                context.load_verify_locations(self._folder / given.client_ca_file)
        except (OSError, ssl.SSLError) as wrong:
            raise SiteError(
                f"tls_server_config: certificate, key or CA cannot be used ({wrong.strerror}); "
                "give PEM files that belong together"
            ) from None
        context.verify_mode = _CLIENTS[kind]
        return context

    async def _password(self, name: str, password: bytes) -> bool:
        known = self._config.basic_auth_users.get(name, "").encode()
        digest = hashlib.sha256(b"\0".join((name.encode(), known, password))).digest()
        if known and digest in self._right:
            return True
        right = await asyncio.to_thread(_matches, password, known or _NOBODY)
        if not (right and known):
            return False
        if len(self._right) >= _REMEMBERED:
            self._right.pop(next(iter(self._right)))
        self._right[digest] = None
        return True


def _matches(password: bytes, known: bytes) -> bool:
    try:
        # bcrypt looks at 72 bytes; the toolkit's library cuts there without a word.
        return bcrypt.checkpw(password[:72], known)
    except ValueError:
        return False


def read_access(path: Path) -> Access:
    """Read a web-config file.

    Raises:
        SiteError: file, line and key of what is wrong.
    """
    file = load(path)
    config = file.validated(WebConfig, file.value or {})
    for name, known in config.basic_auth_users.items():
        if not known.startswith(("$2a$", "$2b$", "$2y$")):
            raise file.error(
                ("basic_auth_users", name), "not a bcrypt hash; make one with htpasswd -nBC 10 ''"
            )
    tls = config.tls_server_config
    if tls and tls.client_auth_type and tls.client_auth_type not in _CLIENTS:
        raise file.error(
            ("tls_server_config", "client_auth_type"),
            f"{tls.client_auth_type} is not supported; use one of {', '.join(_CLIENTS)}",
        )
    return Access(config, path.parent)
