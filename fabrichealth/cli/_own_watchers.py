"""Watchers of the daemon itself: is its site file right, does everybody take what it tells?"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from fabrichealth.catalogue.watchers import RECEIVER_UP, SITE_FILE_TAKEN
from fabrichealth.cli._collecting import Collecting
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Labels

EVERY = 10.0


class Receiver(Protocol):
    """Somebody who is told."""

    @property
    def name(self) -> str:
        """Its address, without what may be a secret."""
        ...

    @property
    def up(self) -> bool:
        """Whether it took what it was told last."""
        ...


class OwnWatchers:
    """What the daemon says of itself."""

    def __init__(self, collecting: Collecting, receivers: Callable[[], Sequence[Receiver]]) -> None:
        self._collecting = collecting
        self._receivers = receivers
        self.site_file_taken = True
        """Whether the site file was right when it was read last."""

    async def run(self) -> None:
        """Export it until cancelled."""
        while True:
            self.tell()
            await self._collecting.clock.sleep(EVERY)

    def tell(self) -> None:
        """Export it now."""
        table = self._collecting.table
        told: dict[tuple[Metric, Labels], float] = {
            (SITE_FILE_TAKEN, ()): float(self.site_file_taken),
            **{(RECEIVER_UP, (one.name,)): float(one.up) for one in self._receivers()},
        }
        clock = table.clock("watchers", f"daemon{self._collecting.setup.part}")
        values = np.array(list(told.values()))
        batch = Batch(clock, self._collecting.clock.now(), table.intern_all(list(told)), values)
        self._collecting.take([batch], [])
