"""Laser bank: one external source (ELSFP) that lights the engines of several ports.

Each of its lasers is split over the same share of lanes of every engine, so that a laser that
fails takes lanes everywhere at once. What split and modulator take is the same for all.
"""

from dataclasses import dataclass

from emulator.light import DARK_DBM
from emulator.optics import ModuleState


@dataclass
class LaserBank:
    """A source and the engines that it feeds."""

    source: ModuleState
    engines: list[ModuleState]

    def __post_init__(self) -> None:
        if self.source.built.laser is None:
            raise ValueError(f"{self.source.kind} has no lasers to feed others with")
        dark = [engine.kind for engine in self.engines if not engine.built.external]
        if dark:
            raise ValueError(f"{dark[0]} has light of its own, or needs none")

    def laser_of(self, engine: ModuleState, lane: int) -> int:
        """Return the laser, counted from 0, that lights a lane of an engine."""
        return lane * self.source.lanes // engine.lanes

    def shine(self, ambient: float) -> None:
        """Let the source follow its air (degrees Celsius), and the engines its light."""
        self.source.shine(ambient)
        nominal = self.source.built.sent_dbm
        for engine in self.engines:
            for lane in range(engine.lanes):
                missing = nominal - self.source.tx_dbm[self.laser_of(engine, lane)]
                engine.supply_dbm[lane] = max(engine.built.sent_dbm - missing, DARK_DBM)
            engine.shine(ambient)
