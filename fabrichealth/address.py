"""Addresses of the site file: checked, and shown without what may be a secret."""

import re
from urllib.parse import urlsplit

_PLAIN = r"[a-z+]+://([^/?#@:]*@)?([^/?#@:\[\]]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?([/?#]|$)"
"""An address whose host, and port if any, are plain: an @ behind them is no end of a password."""


def checked_url(url: str, schemes: tuple[str, ...]) -> str:
    """Return an address of one of these schemes; no message repeats what may be a secret.

    Raises:
        ValueError: it is none, or holds a password.
    """
    # a password may hold / ? # and @ itself; a colon before any @ that follows is taken for one
    if re.search(r"://[^/?#@]*:[^@]*@", url) and not re.match(_PLAIN, url):
        raise ValueError("an address holds no password; use user and secret_file")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as wrong:
        why = str(wrong) if "@" not in url else "user, host or port cannot be read"
        raise ValueError(f"{_masked(url)!r} is not an address: {why}") from None
    if parts.scheme not in schemes or not (parts.netloc or parts.path.strip("/")):
        forms = " or ".join(f"{scheme}://HOST" for scheme in schemes)
        raise ValueError(f"{_masked(url)!r} is not an address of the form {forms}")
    return url


def _masked(url: str) -> str:
    """Return an address as a message may show it: nothing before an @, nothing of a query."""
    shown = re.sub(r"^([a-z+]*://)?.*@", r"\1..@", url, flags=re.DOTALL)
    return re.split("[?#]", shown, maxsplit=1)[0]
