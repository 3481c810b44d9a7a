"""The site file (contract 8): what is read, kept, judged and told, by whom.

The sections of sources and detectors are theirs; this module is handed their types. Every
error names file, line and key. `${VAR}` is replaced from the environment in addresses and file
names only; secrets are files or environment variables, never values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, field_validator, model_validator

from fabrichealth.address import checked_url
from fabrichealth.errors import SiteError
from fabrichealth.settings import Duration, Settings, seconds
from fabrichealth.target_rows import (
    Address,
    File,
    Period,
    SourceKind,
    TargetRow,
    Text,
    targets,
    unknown,
)
from fabrichealth.yamlfile import YamlFile, load

AT_START = (
    "listen", "external_url", "state", "store", "web_config", "events", "notify", "events_to",
    "remediate",
)  # fmt: skip
"""Keys of a site file that a reload does not take up."""

Known = TypeVar("Known")
Section = TypeVar("Section", bound=Settings)


class Policy(Settings):
    """What a site decides about incidents."""

    capacity_floor: float = Field(default=0.75, ge=0, le=1)
    """Share of a rack's or domain's capacity that must stay when something is drained."""
    hold_down: Duration = seconds(1800)
    """A cause absent for so long closes its incident; flaps take a day."""
    page_budget_per_week_per_10k_links: float = Field(default=1.0, ge=0)
    """Expected false pages that statistical kinds may cause."""
    pages_accepted_per_week_per_10k_links: float = Field(default=10.0, ge=0)
    """Pages of every kind, true ones too, that people on call accept; far more of them make
    FabricPagesTooMany a ticket of its own."""
    grace: Duration = seconds(1800)
    """After a boot or a firmware upgrade nothing in its scope is news for so long."""
    false_holds: Duration = seconds(7 * 86_400)
    """What a rope, pump or unit said and was called false is told again after so long, or as soon
    as anything else joins it; 0: with its next incident."""
    judge_every: Period = seconds(10)
    """How often the analyzer makes a pass."""


class CloseWatch(Settings):
    """When a target is read more often than its period, and what all that may cost."""

    period: Period = seconds(1)
    """A target that is watched closely is read this often, or as often as reading it tells more."""
    pause: float = Field(default=0.01, gt=0, le=1)
    """It begins where a queue of a port stood paused for more than this share of the time."""
    calm: float = Field(default=0.002, ge=0, le=1)
    """It ends after `quiet` without a queue paused for more than this share; at most `pause`."""
    quiet: Period = seconds(60)
    """How long pauses must be over before the target has its own period again."""
    incident: Duration = seconds(600)
    """For so long the ends of a link or port that an incident accuses are watched, from its
    opening and each time it becomes another; 0: incidents make nobody look closer."""
    longest: Period = seconds(900)
    """Nobody is watched for longer at a stretch; the same time must pass before it is again."""
    targets: float = Field(default=0.05, ge=0, le=1)
    """At most this share of the targets at a time, one at least; 0: nobody is watched closely."""
    visits: float = Field(default=0.5, ge=0)
    """At most this share of visits more than there would be otherwise; one target always may."""
    busy: float = Field(default=0.5, gt=0, le=1)
    """No target is made to answer for more than this share of the time: slow ones less often."""

    @model_validator(mode="after")
    def _calm_is_less(self) -> "CloseWatch":
        if self.calm > self.pause:
            raise ValueError(f"calm {self.calm:g} is above pause {self.pause:g}; write less")
        return self


class StoreSection(Settings):
    """Where readings are kept; each kind of store adds its own keys."""

    kind: str
    """Which kind of store, and so which other keys; docs/stores.md has those on servers."""


class Receiver(Settings):
    """A server that is told something, and how we are known there."""

    kind: str
    url: Address
    user: Text = ""
    """With a secret: basic authentication; a secret alone is a bearer token."""
    secret_file: File | None = None
    secret_env: Text = ""
    ca_file: File | None = None
    """Certificates by which an https address is trusted, in place of the system's."""

    @field_validator("url")
    @classmethod
    def _http(cls, url: str) -> str:
        return checked_url(url, ("http", "https"), user=True, query=True)


class Notify(Receiver):
    """Who is told of incidents."""

    kind: Literal["alertmanager"]
    silences: bool = True
    """Whether its silences that name a rack, device, link, domain, loop or feed are maintenance."""


class Analyzer(Receiver):
    """A daemon that keeps a journal; its token is the `secret_file`."""

    kind: Literal["analyzer"] = "analyzer"


class _File(Settings):
    topology: File | None = None
    events: File | None = None
    state: File = Path("/var/lib/fabrichealth")
    listen: Address = "127.0.0.1:9480"
    external_url: Address = ""
    web_config: File | None = None
    store: dict[str, Any] = Field(default_factory=dict)
    sources: dict[str, Any] = Field(default_factory=dict)
    targets: list[Any] = Field(default_factory=list)
    detectors: dict[str, Any] = Field(default_factory=dict)
    policy: Policy = Policy()
    close_watch: CloseWatch = CloseWatch()
    notify: list[Notify] = Field(default_factory=list)
    events_to: list[Analyzer] = Field(default_factory=list)
    remediate: list[Any] = Field(default_factory=list)

    @field_validator("external_url")
    @classmethod
    def _page(cls, url: str) -> str:
        return url and checked_url(url, ("http", "https"))

    @field_validator("listen")
    @classmethod
    def _host_and_port(cls, text: str) -> str:
        host, _, port = text.rpartition(":")
        if not host or not (port.isascii() and port.isdecimal()) or int(port) > 65_535:
            raise ValueError(f"{text!r} is not HOST:PORT, such as 127.0.0.1:9480")
        return text


@dataclass(frozen=True)
class Site:
    """A validated site file; paths are absolute or relative to the file's folder."""

    path: Path
    topology: Path | None
    events: Path | None
    state: Path
    listen: str
    external_url: str
    """Where people find the page; alerts lead there."""
    web_config: Path | None
    store: StoreSection
    sources: dict[str, Settings]
    targets: list[TargetRow]
    detectors: dict[str, Settings]
    policy: Policy
    close_watch: CloseWatch
    notify: list[Notify]
    events_to: list[Analyzer]
    """Who is told the events that our own sources bring: logs of devices, jobs of schedulers."""
    remediate: list[Settings]
    lines: tuple[int, ...] = ()
    """Line of each target in the file."""

    def error(self, index: int, what: str) -> SiteError:
        """Return an error about a target that names file and line."""
        return SiteError(f"{self.path}:{self.lines[index]}: targets.{index}: {what}")


def read(
    path: Path,
    sources: Mapping[str, SourceKind],
    detectors: Mapping[str, type[Settings]],
    stores: Mapping[str, type[StoreSection]],
    remediators: Mapping[str, type[Settings]],
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
        parsed.external_url or f"http://{parsed.listen}",
        base / parsed.web_config if parsed.web_config else None,
        _beside(file.validated(_store(file, stores, parsed.store), parsed.store, ("store",)), base),
        site_sources,
        targets(file, parsed.targets, sources, base),
        site_detectors,
        parsed.policy,
        parsed.close_watch,
        [_beside(row, base) for row in parsed.notify],
        [_beside(row, base) for row in parsed.events_to],
        [
            _beside(_remediator(file, remediators, index, row), base)
            for index, row in enumerate(parsed.remediate)
        ],
        tuple(file.line(("targets", index)) for index in range(len(parsed.targets))),
    )


def _store(
    file: YamlFile, stores: Mapping[str, type[StoreSection]], section: Mapping[str, Any]
) -> type[StoreSection]:
    """Return the settings of the kind of store that a section names; the embedded one is silent."""
    kind = section.get("kind", "embedded")
    if not isinstance(kind, str) or kind not in stores:
        raise file.error(("store", "kind"), unknown(kind, stores))
    return stores[kind]


def _remediator(
    file: YamlFile, remediators: Mapping[str, type[Settings]], index: int, row: Any
) -> Settings:
    """Return the settings of a row under `remediate:` by its kind."""
    kind = row.get("kind") if isinstance(row, Mapping) else None
    if not isinstance(kind, str) or kind not in remediators:
        raise file.error(("remediate", index), unknown(str(kind), remediators))
    return file.validated(remediators[kind], row, ("remediate", index))


def _beside(row: Section, base: Path) -> Section:
    """Return a section whose files are found from the site file's folder."""
    files = {key: base / value for key, value in row if isinstance(value, Path)}
    return row.model_copy(update=files)


def _section(value: Any) -> Any:
    """Return a section; one of which only the name is written has its defaults."""
    return {} if value is None else value


def _known(file: YamlFile, known: Mapping[str, Known], section: str, name: str) -> Known:
    """Return the item of a section's name, or say which names there are."""
    if name not in known:
        raise file.error((section, name), unknown(name, known))
    return known[name]
