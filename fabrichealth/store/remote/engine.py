"""RemoteEngine: an engine whose store stands on a server; its kinds say how it is opened."""

from abc import abstractmethod
from typing import TypeVar

from fabrichealth.store.engine import Engine, Wanted, everything
from fabrichealth.store.remote.settings import RemoteSettings
from fabrichealth.store.remote.shared import SharedStore

R = TypeVar("R", bound=RemoteSettings)


class RemoteEngine(Engine[R]):
    """Opens stores on a server, to read or to write through a spool in `state:`."""

    @property
    def lag(self) -> float:
        """Seconds that a reading may take until it is found."""
        return self.settings.lag

    def writer(self) -> SharedStore:
        """Send what is written, through the spool."""
        return self.store(write=True)

    def reader(self, wanted: Wanted = everything) -> SharedStore:
        """Read only."""
        return self.store(wanted, read=True)

    @abstractmethod
    def store(
        self, wanted: Wanted = everything, *, read: bool = False, write: bool = False
    ) -> SharedStore:
        """Open to read, to write, or both.

        Raises:
            SiteError: a file that is named cannot be read.
            StoreError: an address is not given, or the spool cannot be used.
        """
