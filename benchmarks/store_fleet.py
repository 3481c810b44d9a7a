"""A seeded fleet for the store's benchmark: what it says each second, without any device.

Targets with their own phase in a 10 s period, 200 series each: 20 % byte counters that rise by
random 39-bit amounts, 20 % error counters that mostly stand still, 30 % light in steps of 0.01,
10 % bit error ratios with all their digits, 10 % temperatures in steps of 0.1 or 1/256, 10 %
constants.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabrichealth.catalogue.optics import RX_POWER, SNR, TEMPERATURE, TX_POWER
from fabrichealth.catalogue.ports import (
    LINK_DOWNS,
    PRE_FEC_BER,
    RX_BYTES,
    SPEED,
    SYMBOL_ERRORS,
    TX_BYTES,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Floats, Ids, SeriesTable

METRICS: tuple[Metric, ...] = (
    RX_BYTES,
    TX_BYTES,
    SYMBOL_ERRORS,
    LINK_DOWNS,
    RX_POWER,
    TX_POWER,
    SNR,
    PRE_FEC_BER,
    TEMPERATURE,
    SPEED,
)
PORTS = 20
SERIES = len(METRICS) * PORTS
PERIOD = 10.0
START = 1_767_225_600.0
JITTER = 0.002
"""Seconds by which a poll misses its moment (standard deviation)."""


class Second(NamedTuple):
    """What is polled within one second, as columns and as batches of the same arrays."""

    batches: list[Batch]
    target: Ids
    at: Floats
    values: Floats
    """[target, series of a target]"""


@dataclass
class Fleet:
    """The state of all targets; the same seed says the same."""

    targets: int
    seed: int = 1

    def __post_init__(self) -> None:
        self._chance = np.random.default_rng(self.seed)
        chance = self._chance
        self._phase = chance.random(self.targets) * PERIOD
        shape = (self.targets, len(METRICS), PORTS)
        self._level = np.zeros(shape)
        self._level[:, 4:7] = chance.normal(-2, 1, (self.targets, 3, PORTS))
        self._level[:, 7] = chance.normal(-8, 1, (self.targets, PORTS))
        self._level[:, 8] = chance.normal(45, 5, (self.targets, PORTS))
        self._level[:, 9] = chance.choice([1e11, 2e11, 4e11, 8e11], (self.targets, PORTS))
        self._steps = np.where(chance.random(self.targets) < 0.5, 10.0, 256.0)[:, None]

    def intern(self, table: SeriesTable) -> tuple[NDArray[np.int32], Ids]:
        """Return series numbers [target, series of a target] and clock numbers [target]."""
        series = np.array(
            [
                [
                    table.intern(metric, _labels(metric, target, port))
                    for metric in METRICS
                    for port in range(PORTS)
                ]
                for target in range(self.targets)
            ],
            np.int32,
        )
        clocks = [table.clock("bench", f"leaf-{target:04d}") for target in range(self.targets)]
        return series, np.array(clocks, np.int32)

    def second(self, poll: int, second: int, series: NDArray[np.int32], clocks: Ids) -> Second:
        """Return what is polled in one second of a poll's ten."""
        mine = np.flatnonzero((self._phase >= second) & (self._phase < second + 1))
        many, chance = len(mine), self._chance
        level = self._level
        level[mine, 0:2] += chance.integers(0, 2**39, (many, 2, PORTS))
        bursts = chance.random((many, 2, PORTS)) < 0.01
        level[mine, 2:4] += bursts * chance.integers(1, 50, (many, 2, PORTS))
        values = level[mine]
        values[:, 4:7] = (
            np.round(values[:, 4:7] + chance.normal(0, 0.05, (many, 3, PORTS)), 2) + 0.0
        )
        values[:, 7] = 10 ** (values[:, 7] + chance.normal(0, 0.05, (many, PORTS)))
        steps = self._steps[mine]
        values[:, 8] = (
            np.round((values[:, 8] + chance.normal(0, 0.1, (many, PORTS))) * steps) / steps
        )
        flat = values.reshape(many, SERIES)
        at = START + poll * PERIOD + self._phase[mine] + chance.normal(0, JITTER, many)
        batches = [
            Batch(int(clocks[target]), float(at[row]), series[target], flat[row])
            for row, target in enumerate(mine)
        ]
        return Second(batches, mine.astype(np.int32), at, flat)


def _labels(metric: Metric, target: int, port: int) -> tuple[str, ...]:
    more = len(metric.labels) - 2
    return (f"leaf-{target:04d}", f"Ethernet{port}", *["1"] * more)
