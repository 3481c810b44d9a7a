"""A store in files of our own, on one machine, without a server."""

from fabrichealth.runtime.paths import StatePaths
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.store.engine import Engine, Wanted, everything
from fabrichealth.store.settings import StoreSettings


class Embedded(Engine[StoreSettings]):
    """The store in `state:`; one process writes, others on the same machine read."""

    settings_type = StoreSettings
    shared = False

    def writer(self) -> EmbeddedStore:
        """Open the folder to write; it is made if it is not there."""
        return EmbeddedStore.open(StatePaths(self.state).store, settings=self.settings)

    def reader(self, wanted: Wanted = everything) -> EmbeddedStore:
        """Open the folder to read; one machine's series are all wanted."""
        return EmbeddedStore.open(StatePaths(self.state).store, read_only=True)
