"""Addresses of the site file: checked, and shown without what may be a secret."""

import re
from urllib.parse import urlsplit

_PLAIN = r"[a-z+]+://([^/?#@:]*@)?([^/?#@:\[\]]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?([/?#]|$)"
"""An address whose host, and port if any, are plain: an @ behind them is no end of a password."""


def checked_url(
    url: str, schemes: tuple[str, ...], *, user: bool = False, query: bool = False
) -> str:
    """Return an address of one of these schemes; no message repeats what may be a secret.

    `user` and `query` say whether it may hold such a part.

    Raises:
        ValueError: it is none, or holds a password or a part that nobody would look at.
    """
    # a password may hold / ? # and @ itself; a colon before any @ that follows is taken for one
    if re.search(r"://[^/?#@]*:[^@]*@", url) and not re.match(_PLAIN, url):
        raise ValueError("an address holds no password; use user and secret_file")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as wrong:
        why = str(wrong) if "@" not in url else "user, host or port cannot be read"
        raise ValueError(f"{shown(url)!r} is not an address: {why}") from None
    if parts.scheme not in schemes or not (parts.netloc or parts.path.strip("/")):
        forms = " or ".join(f"{scheme}://HOST" for scheme in schemes)
        raise ValueError(f"{shown(url)!r} is not an address of the form {forms}")
    if port == 0:
        raise ValueError(f"{shown(url)!r}: 0 is no port; leave it out, or give one from 1 to 65535")
    if "@" in parts.netloc and not user:
        raise ValueError("an address holds no user; use user, and secret_file for a secret")
    if (parts.query or parts.fragment) and not query:
        raise ValueError(
            f"{shown(url)!r}: nothing behind ? or # of this address is used; leave it out, and "
            "name a secret by secret_file"
        )
    return url


def shown(url: str) -> str:
    """Return an address as a message may show it: nothing before an @, nothing of a query."""
    masked = re.sub(r"^([a-z+]*://)?.*@", r"\1..@", url, flags=re.DOTALL)
    return re.split("[?#]", masked, maxsplit=1)[0]
