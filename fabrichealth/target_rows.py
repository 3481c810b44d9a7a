"""The targets of a site file (contract 8): what each row may say, and what is checked of it.

Addresses are checked against what their source takes; files are found from the site file's folder.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from fabrichealth.address import checked_url
from fabrichealth.own_name import host_name
from fabrichealth.settings import Duration, Settings
from fabrichealth.yamlfile import Loc, YamlFile, text_of


def _expanded(text: object) -> object:
    """Replace `${VAR}`; a variable that is not set is an error."""
    if not isinstance(text, str):
        return text

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in os.environ:
            raise ValueError(f"environment variable {name} is not set")
        return os.environ[name]

    return re.sub(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", value, text)


def name_of(name: str) -> str:
    """Return the name of a device, rack, loop or feed.

    Raises:
        ValueError: it holds what joins names to those of ports and links.
    """
    if not name.isprintable():
        raise ValueError(f"{name!r}: a name holds nothing that does not print; write _ instead")
    if "/" in name or "--" in name:
        raise ValueError(f"{name!r}: a name holds neither `/` nor `--`; write _ instead")
    return name


OF_SOURCES = (
    "map", "mapping", "user", "secret_file", "secret_env", "ca_file", "fingerprint", "version",
    "auth", "priv",
)  # fmt: skip
"""Keys that not every source takes."""

SYSLOG_PORT = 514

Text = Annotated[str, BeforeValidator(text_of)]
"""Versions and ports are text even where they look like numbers."""
Name = Annotated[Text, AfterValidator(name_of)]
Address = Annotated[Text, BeforeValidator(_expanded)]
File = Annotated[Path, BeforeValidator(_expanded), BeforeValidator(text_of)]
Period = Annotated[Duration, Field(gt=0)]


class TargetRow(Settings):
    """One target; `name` is a device of the topology where it is one.

    What is read on this very host may go without: it has the host's own name, so that one site file
    serves every host.
    """

    name: Name = Field(default_factory=host_name, min_length=1)
    source: str
    address: Address = ""
    period: Period | None = None
    timeout: Period | None = None
    device: Name = ""
    rack: Name = ""
    loop: Name = ""
    feed: Name = ""
    mapping: Text = ""
    map: File | None = None
    user: Text = ""
    secret_file: File | None = None
    secret_env: Text = ""
    ca_file: File | None = None
    fingerprint: Text = ""
    version: Text = ""
    auth: Text = ""
    priv: Text = ""
    port: Text = ""
    driver: Text = ""
    root: File | None = None
    capture: File | None = None
    """Captured replies in place of a device; `topology` and `check` read them, daemons do not."""

    @property
    def options(self) -> dict[str, str]:
        """The keys that a source asks for by name, as text; empty ones left out."""
        own = {"name", "source", "address", "period", "timeout", "device", "capture"}
        return {
            key: str(value)
            for key, value in self.model_dump(exclude=own).items()
            if value not in (None, "")
        }


@dataclass(frozen=True)
class SourceKind:
    """What the site file must know of a source: its section, and addresses it takes."""

    settings: type[Settings]
    schemes: tuple[str, ...]
    """URL schemes of its addresses; empty for a source that runs on the host."""
    options: tuple[str, ...] = ()
    """Which of `OF_SOURCES` its targets may have."""
    queries: bool = False
    """Whether its addresses may hold a query."""
    listens: bool = False
    """Whether its addresses are sockets of ours."""
    local: bool = False
    """Whether the address may be missing, or be a path or, without schemes, a name on the host."""


def targets(
    file: YamlFile, rows: list[object], sources: Mapping[str, SourceKind], base: Path
) -> list[TargetRow]:
    """Return the rows of the file's targets.

    Raises:
        SiteError: the first row that cannot be, with its line.
    """
    found: list[TargetRow] = []
    seen: dict[tuple[str, str], int] = {}
    sockets: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for index, value in enumerate(rows):
        loc: Loc = ("targets", index)
        row = file.validated(TargetRow, value, loc)
        kind = sources.get(row.source)
        if kind is None:
            raise file.error((*loc, "source"), unknown(row.source, sources))
        if "name" not in row.model_fields_set and not _is_this_host(row, kind):
            what = "name is missing; only what is read on this very host goes by the host's own"
            raise file.error((*loc, "name"), what)
        key = (row.source, row.name)
        if key in seen:
            what = f"{row.source} {row.name} is a target already, in line {seen[key]}"
            raise file.error((*loc, "name"), what)
        seen[key] = file.line(loc)
        for option in OF_SOURCES:
            if getattr(row, option) and option not in kind.options:
                taken = f"; it takes {', '.join(kind.options)}" if kind.options else ""
                raise file.error((*loc, option), f"{row.source} makes no use of it{taken}")
        row = _anchored(_with_capture(row, kind, base), base)
        if row.capture is None:
            _check_address(file, loc, row, kind)
        elif row.address or not row.capture.exists():
            what = "give an address or a capture" if row.address else f"{row.capture}: not there"
            raise file.error((*loc, "capture"), what)
        if kind.listens and "://" in row.address:
            _check_alone(file, loc, row, sockets)
        found.append(row)
    return found


def _is_this_host(row: TargetRow, kind: SourceKind) -> bool:
    """Return whether a target is the host itself, as it is now."""
    here = kind.local or not kind.schemes
    return here and not row.address and row.root is None and row.capture is None


def _with_capture(row: TargetRow, kind: SourceKind, base: Path) -> TargetRow:
    """Return a target whose address, being a path that is there, is a capture, as for `read`."""
    path = row.address
    if not path or "://" in path or (kind.local and path.startswith("/")):
        return row
    try:
        there = (base / path).exists()
    except (OSError, ValueError):
        return row  # no path at all
    return row.model_copy(update={"address": "", "capture": Path(path)}) if there else row


def _check_address(file: YamlFile, loc: Loc, row: TargetRow, kind: SourceKind) -> None:
    if not kind.schemes:
        if row.address and (not kind.local or "://" in row.address):
            raise file.error((*loc, "address"), f"{row.source} runs on the host and has no URL")
        return
    if kind.local and (not row.address or row.address.startswith("/")):
        return
    if not row.address:
        raise file.error(loc, f"address is missing; {row.source} wants {_forms(kind)}")
    try:
        checked_url(row.address, kind.schemes, query=kind.queries)
    except ValueError as wrong:
        raise file.error((*loc, "address"), str(wrong)) from None


def _check_alone(
    file: YamlFile, loc: Loc, row: TargetRow, sockets: dict[tuple[str, int], list[tuple[str, int]]]
) -> None:
    """Refuse a socket that a target before listens at; an unspecified host is every host."""
    parts = urlsplit(row.address)
    host, every = parts.hostname or "", {"0.0.0.0", "::"}  # noqa: S104 - compared, not bound
    others = sockets.setdefault((parts.scheme, parts.port or SYSLOG_PORT), [])
    for other, line in others:
        if other == host or every & {other, host}:
            raise file.error((*loc, "address"), f"the target in line {line} listens there already")
    others.append((host, file.line(loc)))


def _forms(kind: SourceKind) -> str:
    return " or ".join(f"{scheme}://HOST" for scheme in kind.schemes)


def _anchored(row: TargetRow, base: Path) -> TargetRow:
    """Return a target whose files are found from the site file's folder."""
    files = {
        key: base / value
        for key in ("secret_file", "ca_file", "root", "map", "capture")
        if (value := getattr(row, key)) is not None
    }
    mapping = {"mapping": str(base / row.mapping)} if Path(row.mapping).suffix else {}
    return row.model_copy(update={**files, **mapping})


def unknown(name: str, known: Mapping[str, object]) -> str:
    """Return that a name is not among those there are."""
    return f"{name!r} is not among {', '.join(sorted(known))}"
