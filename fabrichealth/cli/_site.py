"""Puts a site file, a topology and the items of the folders together."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from analyzer.detector import Detector
from collectors.sharding import WHOLE, Shard
from collectors.source import Source, SourceSettings, Target
from fabrichealth import config
from fabrichealth.config import StoreSection
from fabrichealth.errors import SiteError, UsageError
from fabrichealth.model import SeriesTable
from fabrichealth.plugins import Lazy, item, names
from fabrichealth.remediation.remediator import OUTPUTS, AnyRemediator, Remediator, RemedySettings
from fabrichealth.settings import Settings
from fabrichealth.store.engine import ENGINES, AnyEngine, engine, engine_type
from fabrichealth.target_rows import SourceKind, TargetRow
from fabrichealth.topology import FABRIC, Topology
from fabrichealth.topology import read as read_topology
from fabrichealth.yamlfile import says

SOURCES = "collectors.sources"
DETECTORS = "analyzer.detectors"


def source_type(name: str) -> type[Source]:
    """Return the source of a name, importing its file only.

    Raises:
        SiteError: there is none of that name, or its library is not installed.
    """
    if name not in names(SOURCES):
        raise SiteError(f"no source named {name}; there are {', '.join(names(SOURCES))}")
    try:
        return item(SOURCES, name, Source)
    except ModuleNotFoundError as wrong:
        library = (wrong.name or "a library").partition(".")[0]
        raise SiteError(
            f"source {name} needs {library}; install it with pip install 'fabrichealth[{name}]'"
        ) from None


def _kind(name: str) -> SourceKind:
    kind = source_type(name)
    return SourceKind(
        kind.settings_type, kind.schemes, kind.options, kind.queries, kind.listens, kind.local
    )


def _detector_settings(name: str) -> type[Settings]:
    return item(DETECTORS, name, Detector).settings_type


def _store_settings(name: str) -> type[StoreSection]:
    return engine_type(name).settings_type


def _remedy_settings(name: str) -> type[Settings]:
    return item(OUTPUTS, name, Remediator).settings_type


@dataclass(frozen=True)
class Setup:
    """A site, its topology, and how to build its sources."""

    site: config.Site
    topology: Topology
    store: AnyEngine
    shard: Shard = WHOLE
    """The share of the targets that is read here."""
    domains: tuple[str, ...] = ()
    """Whose incidents are judged here; of every domain if none is named."""

    @property
    def part(self) -> str:
        """What the names of our own clocks end in, where others of the site have some as well."""
        if self.domains:
            return f"-{','.join(self.domains)}"
        return "" if self.shard == WHOLE else f"-{self.shard}"

    def held(self) -> int:
        """Return how many targets are read here."""
        return sum(self.shard.holds(row.name) for row in self.site.targets)

    def remediators(self) -> list[AnyRemediator]:
        """Build who is asked to drain."""
        found = []
        for row in self.site.remediate:
            if isinstance(row, RemedySettings):
                kind: type[AnyRemediator] = item(OUTPUTS, row.kind, Remediator)
                found.append(kind(row))
        return found

    def sources(self, table: SeriesTable, *, captures: bool = False) -> list[Source]:
        """Build a source for every target of the shard.

        `captures` says whether those that are captures can be read here.

        Raises:
            SiteError: one cannot be built from what its target says; names file and line.
        """
        built = []
        for index, row in enumerate(self.site.targets):
            if not self.shard.holds(row.name):
                continue
            if row.capture is not None and not captures:
                what = f"{row.capture} is a capture, which no daemon reads; give an address"
                raise self.site.error(index, what)
            try:
                built.append(self._source(row, table))
            except SiteError as wrong:
                raise self.site.error(index, str(wrong)) from None
        return built

    def _source(self, row: TargetRow, table: SeriesTable) -> Source:
        kind = source_type(row.source)
        section = self.site.sources.get(row.source)
        plain: dict[str, object] = {} if section is None else section.model_dump()
        own = {"period": row.period, "timeout": row.timeout}
        plain |= {key: value for key, value in own.items() if value is not None}
        settings = kind.settings_type.model_validate(plain)
        target = Target(row.name, row.source, row.address, row.device, row.options, self.topology)
        return kind(settings, target, table)


def load(path: Path, shard: Shard = WHOLE, domains: tuple[str, ...] = ()) -> Setup:
    """Read a site file and the topology it names.

    `shard` says which targets are read here, `domains` whose incidents are judged here.

    Raises:
        SiteError: file, line and key of the first fault; or there is no such domain.
    """
    detectors = Lazy(DETECTORS, _detector_settings)
    site = config.read(
        path, Lazy(SOURCES, _kind), detectors, Lazy(ENGINES, _store_settings),
        Lazy(OUTPUTS, _remedy_settings),
    )  # fmt: skip
    topology = read_topology(site.topology) if site.topology else Topology()
    known = {*topology.domains, *map(topology.domain_of, topology.devices), FABRIC} - {""}
    for name in domains:
        if name not in known:
            what = f"no domain {name}; there are {', '.join(sorted(known))}"
            raise SiteError(f"{site.topology or path}: {what}")
    return Setup(site, topology, engine(site.store, site.state), shard, domains)


def settings_for(name: str, given: Mapping[str, str]) -> SourceSettings:
    """Return a source's settings with some keys given as text.

    Raises:
        UsageError: one of them is not what the setting takes.
    """
    kind = source_type(name).settings_type
    try:
        return kind.model_validate(given)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise UsageError(f"--set {key}={given.get(key, '')}: {says(first)}") from None
