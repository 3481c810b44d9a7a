"""The site file (contract 8): what is read, kept, judged and told, by whom.

The sections of sources and detectors are theirs; this module is handed their types. Every
error names file, line and key. `${VAR}` is replaced from the environment in addresses and file
names only; secrets are files or environment variables, never values.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from fabrichealth.address import checked_url
from fabrichealth.errors import SiteError
from fabrichealth.settings import Duration, Settings, seconds
from fabrichealth.yamlfile import Loc, YamlFile, load, text_of


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


Known = TypeVar("Known")


def name_of(name: str) -> str:
    """Return the name of a device, rack, loop or feed.

    Raises:
        ValueError: it holds what joins names to those of ports and links.
    """
    if "/" in name or "--" in name:
        raise ValueError(f"{name!r}: a name holds neither `/` nor `--`; write _ instead")
    return name


Text = Annotated[str, BeforeValidator(text_of)]
"""Versions and ports are text even where they look like numbers."""
Name = Annotated[Text, AfterValidator(name_of)]
Address = Annotated[Text, BeforeValidator(_expanded)]
File = Annotated[Path, BeforeValidator(_expanded), BeforeValidator(text_of)]
Period = Annotated[Duration, Field(gt=0)]


class Policy(Settings):
    """What a site decides about incidents."""

    capacity_floor: float = Field(default=0.75, ge=0, le=1)
    """Share of a rack's or domain's capacity that must stay when something is drained."""
    hold_down: Duration = seconds(1800)
    """A cause absent for so long closes its incident; flaps take a day."""
    page_budget_per_week_per_10k_links: float = Field(default=1.0, ge=0)
    """Expected false pages that statistical kinds may cause."""
    grace: Duration = seconds(1800)
    """After a boot or a firmware upgrade nothing in its scope is news for so long."""
    judge_every: Period = seconds(10)
    """How often the analyzer makes a pass."""


class Notify(Settings):
    """Who is told."""

    kind: Literal["alertmanager"]
    url: Address

    @field_validator("url")
    @classmethod
    def _http(cls, url: str) -> str:
        return checked_url(url, ("http", "https"))


class TargetRow(Settings):
    """One target; `name` is a device of the topology where it is one."""

    name: Name = Field(min_length=1)
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


class _File(Settings):
    topology: File | None = None
    events: File | None = None
    state: File = Path("/var/lib/fabrichealth")
    listen: str = "127.0.0.1:9480"
    web_config: File | None = None
    store: dict[str, Any] = Field(default_factory=dict)
    sources: dict[str, Any] = Field(default_factory=dict)
    targets: list[Any] = Field(default_factory=list)
    detectors: dict[str, Any] = Field(default_factory=dict)
    policy: Policy = Policy()
    notify: list[Notify] = Field(default_factory=list)

    @field_validator("listen")
    @classmethod
    def _host_and_port(cls, text: str) -> str:
        host, _, port = text.rpartition(":")
        if not host or not (port.isascii() and port.isdecimal()) or int(port) > 65_535:
            raise ValueError(f"{text!r} is not HOST:PORT, such as 127.0.0.1:9480")
        return text


@dataclass(frozen=True)
class SourceKind:
    """What the site file must know of a source: its section, and addresses it takes."""

    settings: type[Settings]
    schemes: tuple[str, ...]
    """URL schemes of its addresses; empty for a source that runs on the host."""
    local: bool = False
    """Whether the address may be missing, or be a path on the host."""


@dataclass(frozen=True)
class Site:
    """A validated site file; paths are absolute or relative to the file's folder."""

    path: Path
    topology: Path | None
    events: Path | None
    state: Path
    listen: str
    web_config: Path | None
    store: Settings
    sources: dict[str, Settings]
    targets: list[TargetRow]
    detectors: dict[str, Settings]
    policy: Policy
    notify: list[Notify]
    lines: tuple[int, ...] = ()
    """Line of each target in the file."""

    def error(self, index: int, what: str) -> SiteError:
        """Return an error about a target that names file and line."""
        return SiteError(f"{self.path}:{self.lines[index]}: targets.{index}: {what}")


def read(
    path: Path,
    sources: Mapping[str, SourceKind],
    detectors: Mapping[str, type[Settings]],
    store: type[Settings],
) -> Site:
    """Read and check a site file.

    Raises:
        SiteError: the first fault, with file, line and key.
    """
    file = load(path)
    if not isinstance(file.value, Mapping):
        raise SiteError(f"{path}:1: a site file is a mapping; it begins with topology: or targets:")
    parsed = file.validated(_File, file.value)
    base = path.parent
    site_sources = {
        name: file.validated(
            _known(file, sources, "sources", name).settings, _section(value), ("sources", name)
        )
        for name, value in parsed.sources.items()
    }
    site_detectors = {
        name: file.validated(
            _known(file, detectors, "detectors", name), _section(value), ("detectors", name)
        )
        for name, value in parsed.detectors.items()
    }
    return Site(
        path,
        base / parsed.topology if parsed.topology else None,
        base / parsed.events if parsed.events else None,
        base / parsed.state,
        parsed.listen,
        base / parsed.web_config if parsed.web_config else None,
        file.validated(store, parsed.store, ("store",)),
        site_sources,
        _targets(file, parsed.targets, sources, base),
        site_detectors,
        parsed.policy,
        parsed.notify,
        tuple(file.line(("targets", index)) for index in range(len(parsed.targets))),
    )


def _section(value: Any) -> Any:
    """Return a section; one of which only the name is written has its defaults."""
    return {} if value is None else value


def _known(file: YamlFile, known: Mapping[str, Known], section: str, name: str) -> Known:
    """Return the item of a section's name, or say which names there are."""
    if name not in known:
        raise file.error((section, name), _unknown(name, known))
    return known[name]


def _targets(
    file: YamlFile, rows: list[Any], sources: Mapping[str, SourceKind], base: Path
) -> list[TargetRow]:
    found: list[TargetRow] = []
    seen: dict[tuple[str, str], int] = {}
    for index, value in enumerate(rows):
        loc: Loc = ("targets", index)
        row = file.validated(TargetRow, value, loc)
        kind = sources.get(row.source)
        if kind is None:
            raise file.error((*loc, "source"), _unknown(row.source, sources))
        key = (row.source, row.name)
        if key in seen:
            what = f"{row.source} {row.name} is a target already, in line {seen[key]}"
            raise file.error((*loc, "name"), what)
        seen[key] = file.line(loc)
        row = _anchored(_with_capture(row, kind, base), base)
        if row.capture is None:
            _check_address(file, loc, row, kind)
        elif row.address or not row.capture.exists():
            what = "give an address or a capture" if row.address else f"{row.capture}: not there"
            raise file.error((*loc, "capture"), what)
        found.append(row)
    return found


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
        if row.address:
            raise file.error((*loc, "address"), f"{row.source} runs on the host and has none")
        return
    if kind.local and (not row.address or row.address.startswith("/")):
        return
    if not row.address:
        raise file.error(loc, f"address is missing; {row.source} wants {_forms(kind)}")
    try:
        checked_url(row.address, kind.schemes)
    except ValueError as wrong:
        raise file.error((*loc, "address"), str(wrong)) from None


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


def _unknown(name: str, known: Mapping[str, object]) -> str:
    return f"{name!r} is not among {', '.join(sorted(known))}"
