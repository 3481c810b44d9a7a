"""Engine: one kind of store, as the site file's `store: {kind: NAME}` names it.

The file in `engines/` is the registration. An engine opens stores: one that writes, for the process
that collects, and ones that read, for whoever judges or asks.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from fabrichealth.config import StoreSection
from fabrichealth.metric import Metric
from fabrichealth.model import Labels
from fabrichealth.plugins import item
from fabrichealth.store.protocol import Store

S = TypeVar("S", bound=StoreSection)

ENGINES = "fabrichealth.store.engines"

Wanted = Callable[[Metric, Labels], bool]
"""Whether a reader wants a series."""


def everything(metric: Metric, labels: Labels) -> bool:
    """Want every series."""
    return True


class Writing(Store, Protocol):
    """A store that is written to: what became of what it was given."""

    @property
    def spooled(self) -> int:
        """Samples that wait to be sent; 0 where nothing is sent."""
        ...

    @property
    def dropped(self) -> int:
        """Samples that were taken and lost all the same."""
        ...

    def maintain(self, budget: float = 0.05, now: float | None = None) -> bool:
        """Do the store's own housekeeping for about so many seconds; True if more waits."""
        ...


class Engine(ABC, Generic[S]):
    """Opens stores of one kind."""

    settings_type: ClassVar[type[StoreSection]]
    """The `store` section of this kind."""

    shared: ClassVar[bool] = True
    """Whether several collectors may write to it and processes elsewhere read it."""

    def __init__(self, settings: S, state: Path) -> None:
        """`state` is the site's folder for what must survive a restart."""
        self.settings = settings
        self.state = state

    @property
    def lag(self) -> float:
        """Seconds that a reading may take until it is found: here what commits once a second."""
        return 1.5

    @abstractmethod
    def writer(self) -> Writing:
        """Open the store to write.

        Raises:
            SiteError: what the settings name is not there.
            StoreError: it cannot be used, or another process writes from the same folder.
        """

    @abstractmethod
    def reader(self, wanted: Wanted = everything) -> Store:
        """Open the store to read, with a table of its own.

        Raises:
            SiteError: what the settings name is not there.
            StoreError: there is none, or it cannot be read.
        """


AnyEngine = Engine[Any]


def engine_type(kind: str) -> type[AnyEngine]:
    """Return the engine of a name, importing its file only."""
    return item(ENGINES, kind, Engine)


def engine(settings: StoreSection, state: Path) -> AnyEngine:
    """Return the engine that a site's `store` section names."""
    return engine_type(settings.kind)(settings, state)
