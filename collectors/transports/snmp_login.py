"""Who asks an SNMP agent: a community, or a user of SNMPv3 with its keys.

For version 2c the secret is the community (`public` where none is named). For version 3 its first
line is the passphrase for `auth`, its second that for `priv`; one line serves both.
"""

from dataclasses import dataclass

from gufo.snmp import (
    Aes128Key,
    Aes192Key,
    Aes256Key,
    BaseAuthKey,
    BasePrivKey,
    DesKey,
    Md5Key,
    Sha1Key,
    Sha224Key,
    Sha256Key,
    Sha384Key,
    Sha512Key,
    User,
)

from collectors.source import Target
from fabrichealth.errors import SiteError, SourceUnavailable

AUTH: dict[str, type[BaseAuthKey]] = {
    "md5": Md5Key, "sha": Sha1Key, "sha1": Sha1Key, "sha224": Sha224Key, "sha256": Sha256Key,
    "sha384": Sha384Key, "sha512": Sha512Key,
}  # fmt: skip
PRIV: dict[str, type[BasePrivKey]] = {
    "des": DesKey, "aes": Aes128Key, "aes128": Aes128Key, "aes192": Aes192Key, "aes256": Aes256Key,
}  # fmt: skip
SHORTEST = 8
"""Octets of a passphrase at least (RFC 3414 section 11.2)."""


@dataclass(frozen=True, slots=True)
class Login:
    """What the options of a target say of version, user and protocols."""

    target: str
    version: str
    name: str
    auth: str
    priv: str

    @classmethod
    def of(cls, target: Target) -> "Login":
        """Return the login of a target.

        Raises:
            SiteError: version, user, auth or priv cannot be.
        """
        options, name = target.options, target.name
        user = options.get("user", "")
        version = options.get("version") or ("3" if user else "2c")
        auth, priv = (options.get(key, "").lower().replace("-", "") for key in ("auth", "priv"))
        if version not in {"2c", "3"}:
            raise SiteError(f"{name}: version {version!r} is not 2c or 3")
        if version == "3" and not user:
            raise SiteError(f"{name}: version 3 needs a user")
        for what, given, known in (("auth", auth, AUTH), ("priv", priv, PRIV)):
            if given and version == "2c":
                raise SiteError(f"{name}: {what} is for version 3; version 2c has a community")
            if given and given not in known:
                raise SiteError(f"{name}: {what} {given!r} is none of {', '.join(known)}")
        if priv and not auth:
            raise SiteError(f"{name}: priv needs auth as well (RFC 3414)")
        return cls(name, version, user, auth, priv)

    def user(self, secret: str) -> User:
        """Return the user of version 3 with its keys.

        Raises:
            SourceUnavailable: a passphrase is missing or too short.
        """
        lines = [line.strip() for line in secret.splitlines() if line.strip()]
        if self.auth and (not lines or min(map(len, lines)) < SHORTEST):
            raise SourceUnavailable(
                f"{self.target}: auth {self.auth} needs a passphrase of {SHORTEST} letters or "
                "more; name its secret_file or secret_env"
            )
        auth = AUTH[self.auth](lines[0].encode()) if self.auth else None
        priv = PRIV[self.priv](lines[min(1, len(lines) - 1)].encode()) if self.priv else None
        return User(self.name, auth_key=auth, priv_key=priv)
