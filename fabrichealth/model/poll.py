"""What one visit to a target brings home."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fabrichealth.events import Event
from fabrichealth.model.series import Floats, Ids


class Reason(StrEnum):
    """Why a reading was refused; each refusal has exactly one."""

    UNSUPPORTED = "unsupported"
    FAILED = "failed"
    SENSOR_FAULT = "sensor_fault"
    STALE = "stale"
    IMPLAUSIBLE = "implausible"
    DUPLICATE = "duplicate"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Refused:
    """One reading that was not taken: why, what it was, of whom, and what the device said."""

    reason: Reason
    what: str
    """Exported metric name, or the field of the reply where no metric is known."""
    labels: Mapping[str, str] = field(default_factory=dict)
    raw: object = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Readings of one target with one time stamp.

    `clock` numbers the target in the `SeriesTable`, `at` is unix seconds, `series` int32 [n]
    and `values` float64 [n] in the units of their metrics; every value is finite.
    """

    clock: int
    at: float
    series: Ids
    values: Floats

    def __len__(self) -> int:
        return len(self.series)


@dataclass(frozen=True, slots=True)
class Neighbor:
    """What a port says of its far end; names are the neighbour's own, not yet the topology's."""

    device: str
    port: str
    remote_device: str
    remote_port: str
    via: str


@dataclass(frozen=True, slots=True)
class Poll:
    """What `Source.read` returns."""

    batches: list[Batch] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    neighbors: list[Neighbor] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Parts of the target that did not answer; the poll is partial if there are any."""

    @property
    def readings(self) -> int:
        """How many values were taken."""
        return sum(len(batch) for batch in self.batches)
