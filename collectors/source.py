"""Source: one kind of target, how to visit it and what it can tell.

A source is one file in `collectors/sources`. It reads a live target once (`read`), or captures
of the same replies (`captured`); both go through the same decoders. Scheduling, retries, ranges,
duplicates, logs and self-metrics are the poller's.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pydantic import field_validator

from collectors.privilege import Privilege
from fabrichealth.errors import SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Poll, SeriesTable
from fabrichealth.settings import Duration, Settings, seconds
from fabrichealth.topology import Topology

LOGIN = ("user", "secret_file", "secret_env")
"""Keys of a target that say who asks."""

TRUST = ("ca_file", "fingerprint")
"""Keys of a target that say whose certificate is believed."""


PATIENCE = 0.9
"""Share of the time-out: the rest is for what is done with the answers."""

SLACK = 0.1
"""Share of a period."""


class SourceSettings(Settings):
    """What every source has; its own settings add to it."""

    period: Duration = seconds(10)
    """How often a target is read."""

    timeout: Duration = seconds(5)
    """Give up on one visit after this long; the next poll tries again."""

    stale_after: Duration = seconds(300)
    """A reading stamped by the device this long before the poll is refused as stale."""

    @property
    def patience(self) -> float:
        """Seconds of a visit after which what has come is kept and what has not is missing."""
        return PATIENCE * self.timeout

    @property
    def slack(self) -> float:
        """Seconds by which what has a pace of its own may be read early: polls jitter."""
        return SLACK * self.period

    @field_validator("period", "timeout")
    @classmethod
    def _takes_time(cls, seconds: float) -> float:
        """Hold for a source's own default too: a period of 0 would never let others work."""
        if seconds <= 0:
            raise ValueError("must be longer than 0; write 200ms, 10s or 5m")
        return seconds


@dataclass(frozen=True)
class Target:
    """One thing to read, as the site file (or `read --set key=value`) names it."""

    name: str
    source: str
    address: str = ""
    device: str = ""
    """The device to whom readings belong where the reply does not say; default the name."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The other keys of the target: rack loop feed mapping map user secret_file .."""
    topology: Topology = field(default_factory=Topology)
    """Gives written names for what replies say: `topology.named(uuid)`, `.port_with_uid(..)`."""

    @property
    def subject(self) -> str:
        """The device that readings belong to."""
        return self.device or self.name


class Source(ABC):
    """One target of one kind. Built once per target, read many times."""

    settings_type: ClassVar[type[SourceSettings]] = SourceSettings
    metrics: ClassVar[tuple[Metric, ...]] = ()
    """Every metric that this source can give; others are a fault of the source."""
    schemes: ClassVar[tuple[str, ...]] = ()
    """URL schemes of its addresses; none for what runs on the host."""
    queries: ClassVar[bool] = False
    """Whether what stands behind a `?` of its address is part of what is asked for."""
    listens: ClassVar[bool] = False
    """Whether its addresses are those of sockets of ours, at which others send."""
    options: ClassVar[tuple[str, ...]] = ()
    """Which keys of `target_rows.OF_SOURCES` its targets may have; the others are refused."""
    local: ClassVar[bool] = False
    """Whether it reads this host where no address is given, and takes a path, or without schemes
    a name on the host, for one."""
    privileges: ClassVar[tuple[Privilege, ...]] = ()
    """What it needs on its host beyond what a plain user may."""

    closest: float | None = None
    """Seconds between visits below which a target tells nothing more, when it is watched closely;
    None: it is not worth reading more often than its period."""

    def __init__(self, settings: SourceSettings, target: Target, table: SeriesTable) -> None:
        self.settings = settings
        self.target = target
        self.table = table
        self.paced = settings.period
        """Seconds between visits now, told by the poller; less while it is watched closely."""
        self.clock = table.clock(target.source, target.name)

    @property
    def addressless(self) -> SourceUnavailable:
        """What to raise where a target of this kind has no address to read."""
        form = f"{self.schemes[0]}://.."
        return SourceUnavailable(f"{self.target.name}: no address to read; give address: {form}")

    @abstractmethod
    async def read(self, at: float) -> Poll:
        """Visit the target once at `at` (unix seconds).

        Raises:
            SourceUnavailable: it did not answer, or with nothing that can be used.
        """

    @abstractmethod
    def captured(self, files: list[Path], at: float) -> Poll:
        """Read one poll from capture files (a file, the files of a folder, or a tree).

        Raises:
            SourceUnavailable: none of the files is a reply of this source.
        """

    def moment(self, files: list[Path]) -> float | None:
        """Return the newest time stamp inside these captures (unix seconds), None if none is.

        The poll of a capture happened then, where nobody says otherwise.
        """
        return None

    def memory(self) -> dict[str, Any]:
        """Return what must survive a restart, as plain JSON values; empty if nothing must."""
        return {}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up what `memory` returned before the restart; what cannot be used is ignored."""

    def report(self, *, explain: bool) -> Iterator[str] | None:
        """Return the lines of a report of what was read last, for a person; None without one.

        `explain` asks where each value comes from.
        """
        return None

    def explanation(self) -> Iterator[dict[str, object]]:
        """Yield where each value read last comes from, as plain JSON objects, where it can tell."""
        return iter(())

    async def close(self) -> None:
        """Let go of connections and threads; called once, when the target goes."""
