"""What somebody had to hear while simulated things were judged, and results as plain values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from analyzer.ledger import Ledger
from fabrichealth.kinds import Severity
from fabrichealth.model import Incident

if TYPE_CHECKING:
    from dataclasses import Field


@dataclass(frozen=True)
class Said:
    """One incident, as far as it is scored."""

    culprit: str
    kind: str
    severity: int
    confirmed_at: float
    because: str


class Scored(Protocol):
    """A dataclass whose field `said` holds what was said."""

    __dataclass_fields__: "ClassVar[dict[str, Field[Any]]]"

    @property
    def said(self) -> tuple[Said, ...]:
        """Oldest first."""


R = TypeVar("R", bound=Scored)


class Hearing:
    """All incidents of one run, those that closed meanwhile included."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._closed = ledger, dict[str, Incident]()

    def note(self, closed: Iterable[Incident]) -> None:
        """Keep what closed in one pass."""
        self._closed.update({one.incident: one for one in closed})

    def said(self) -> list[Said]:
        """Return the tickets and pages that were neither suppressed nor merged, oldest first."""
        every = {**self._closed, **{one.incident: one for one in self._ledger.incidents}}
        told = [
            Said(one.culprit.id, str(one.kind), int(one.severity), one.confirmed_at, one.because)
            for one in every.values()
            if one.confirmed_at is not None and one.severity >= Severity.TICKET
            if not one.suppressed_by and one.merged_into is None
        ]
        return sorted(told, key=lambda one: one.confirmed_at)


def to_json(results: Sequence[Scored]) -> list[dict[str, Any]]:
    """Return results as plain values."""
    return [asdict(one) for one in results]


def of_json(kind: type[R], plain: Sequence[Mapping[str, Any]], said: type[Any] = Said) -> list[R]:
    """Read back what `to_json` gave; `said` is what the results hold."""
    return [kind(**{**one, "said": tuple(said(**told) for told in one["said"])}) for one in plain]
