"""Settings that every store on a server has: who we are there, and how long things may take."""

import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, field_validator, model_validator

from fabrichealth.address import checked_url
from fabrichealth.catalogue import METRICS
from fabrichealth.config import StoreSection
from fabrichealth.errors import StoreError
from fabrichealth.settings import Duration, Size, seconds
from fabrichealth.store.remote.names import CLOCK
from fabrichealth.target_rows import File, Period, Text

LABEL = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")

TAKEN = frozenset({*CLOCK, *(label for metric in METRICS.values() for label in metric.labels)})
"""Labels that say something already."""


@dataclass(frozen=True)
class Access:
    """How we show who we are."""

    user: str = ""
    password_file: Path | None = None
    token_file: Path | None = None
    ca_file: Path | None = None
    tenant: str = ""
    scheme: str = "Bearer"

    @property
    def remedy(self) -> str:
        """Which settings to look at when a server does not know us."""
        return "token_file" if self.token_file is not None else "user and password_file"


class RemoteSettings(StoreSection):
    """What the `store` section of every kind on a server may hold."""

    user: Text = ""
    """Name for basic authentication; its secret is in `password_file`."""
    password_file: File | None = None
    """File whose text is the password of `user`."""
    token_file: File | None = None
    """File whose text is the token that the server wants in place of user and password."""
    ca_file: File | None = None
    """Certificates that an https server is checked against, in place of the system's."""
    labels: dict[str, Text] = Field(default_factory=dict)
    """Labels on every series, asked for at every read: they tell sites in one store apart."""
    timeout: Period = seconds(10)
    """Longest wait for an answer to begin, or to go on."""
    lag: Duration = seconds(5)
    """Judging stays so far behind the clock: readings need time to arrive and to be found."""
    lateness: Duration = seconds(60)
    """Each pass reads so much again; what arrives later is seen when the whole is read anew."""
    reread: Period = seconds(300)
    """The whole of a window is read anew so often: a spool may have brought old readings."""
    spool: Size = 2**30
    """So much waits on disk while the store takes nothing; then the oldest goes; 0: no bound."""

    @field_validator("labels")
    @classmethod
    def _named(cls, labels: dict[str, str]) -> dict[str, str]:
        for name, text in labels.items():
            if not LABEL.fullmatch(name) or name in TAKEN:
                raise ValueError(f"{name!r} cannot be a label here; write a name such as site")
            if not text.strip() or not text.isprintable():
                raise ValueError(f"label {name} needs a value that prints")
        return labels

    @model_validator(mode="after")
    def _one_way_in(self) -> "RemoteSettings":
        if self.token_file is not None and (self.user or self.password_file is not None):
            raise ValueError("give user and password_file, or token_file")
        if self.password_file is not None and not self.user:
            raise ValueError("password_file needs user")
        return self

    def access(self, scheme: str = "Bearer", tenant: str = "") -> Access:
        """Return how we show who we are."""
        return Access(self.user, self.password_file, self.token_file, self.ca_file, tenant, scheme)


def http_address(url: str) -> str:
    """Return an address of a server.

    Raises:
        ValueError: it is none.
    """
    return checked_url(url, ("http", "https")) if url else url


def needed(address: str, key: str) -> str:
    """Return an address of the settings.

    Raises:
        StoreError: it is not given.
    """
    if not address:
        raise StoreError(f"store: {key} is not given; it is the address to {key} at")
    return address
