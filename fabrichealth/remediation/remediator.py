"""Remediator: one who drains. A dry run says exactly what would be done, and does nothing."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar, Generic, TypeVar

from pydantic import Field, field_validator

from fabrichealth.errors import FabricHealthError
from fabrichealth.kinds import KINDS
from fabrichealth.remediation.order import Candidate, Order
from fabrichealth.settings import Settings

OUTPUTS = "fabrichealth.remediation.outputs"


class RemedyFailed(FabricHealthError):
    """It could not be done now; it is tried again."""


class NoAnswer(RemedyFailed):
    """Nobody said whether it was done, so that it may have been."""


class LeftAlone(RemedyFailed):
    """Somebody else has the thing in hand; that is no fault."""


class RemedySettings(Settings):
    """What every remediator may be told; `kind` is the name of its file."""

    kind: str
    dry_run: bool = True
    """Say in the log what would be done, and do nothing."""
    most_at_once: int = Field(default=2, ge=1)
    """So many stand drained by us at a time."""
    most_per_hour: int = Field(default=4, ge=1)
    """So many are drained within an hour."""
    kinds: tuple[str, ...] = ()
    """Kinds of incident that may be acted on; none named: all whose culprit can be drained."""

    @field_validator("kinds")
    @classmethod
    def _known(cls, kinds: tuple[str, ...]) -> tuple[str, ...]:
        for name in kinds:
            if name not in KINDS:
                raise ValueError(f"{name} is no kind of incident; see docs/reference/kinds.md")
        return kinds


Section = TypeVar("Section", bound=RemedySettings)


class Remediator(ABC, Generic[Section]):
    """One who drains; `apply` and `undo` may be called again after they failed."""

    settings_type: ClassVar[type[RemedySettings]]

    def __init__(self, settings: Section) -> None:
        self.settings = settings

    @property
    @abstractmethod
    def name(self) -> str:
        """Who it is, as messages, metrics and the file of its orders name it."""

    @abstractmethod
    def orders(self, candidate: Candidate) -> Iterable[Order]:
        """Yield what a candidate asks of it; nothing unless that is safe now."""

    @abstractmethod
    def says(self, order: Order) -> str:
        """Return exactly what `apply` does, on one line."""

    @abstractmethod
    def says_undo(self, order: Order) -> str:
        """Return exactly what `undo` does, on one line."""

    @abstractmethod
    async def apply(self, order: Order) -> None:
        """Drain.

        Raises:
            FabricHealthError: it could not be done; one line.
        """

    @abstractmethod
    async def undo(self, order: Order) -> None:
        """Take back what `apply` did, and nothing that somebody else did since.

        Raises:
            FabricHealthError: it could not be done; one line.
        """


AnyRemediator = Remediator[RemedySettings]
