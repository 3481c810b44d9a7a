"""Quiet: a hall in which nothing is wrong, poll by poll, never held as a whole.

What life brings without a fault is in it: warm days, jobs that come and go, errors whose rate
wanders, polls that are lost, hosts that restart now and then, and a link that falls once.
"""

from dataclasses import dataclass, field

import numpy as np

from benchmarks.corpus.cable import (
    DAY,
    NOMINAL_DBM,
    SENT_DB,
    THERMAL_DB,
    THRESHOLD_KELVIN,
    decibels,
)
from benchmarks.corpus.codes import BITS, Floats, count, wrong_bits
from benchmarks.corpus.hall import Hall
from benchmarks.corpus.scene import START
from fabrichealth.catalogue import devices, optics, ports
from fabrichealth.metric import Metric
from fabrichealth.model import Batch, Ids, SeriesTable

POLL_LOST = 1e-3
RESTARTS_A_WEEK = 0.02
"""Of a host, unannounced."""
RESTART_POLLS = 2
FALLS_A_WEEK = 0.004
"""Of a link, for less than a poll."""
WANDERS = 0.05
"""Of the logarithm of the error rate, from poll to poll; it comes back within a day."""
HOUR_OF_A_JOB = 5.0

Slot = tuple[Metric, tuple[str, ...], Floats]
"""Metric, labels beside device and port, values [link, end]."""


@dataclass
class QuietHall:
    """Links of one technology and their state now; `poll` must be called in order."""

    hall: Hall
    table: SeriesTable
    chance: np.random.Generator
    period: float = 300.0
    _rows: dict[str, tuple[int, Ids, Ids, Ids]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        number, lanes, roll = len(self.hall.runs), self.hall.technology.lanes, self.chance
        end, lane = (number, 2), (number, 2, lanes)
        self._warm = 44.0 + roll.normal(0, 2.5, end)
        self._bias = 0.060 * (1 + roll.normal(0, 0.04, lane))
        self._sent = NOMINAL_DBM + roll.normal(0, 0.35, lane)
        self._loss = np.abs(roll.normal(1.2, 0.3, end))[..., None]
        self._weak = roll.normal(0, 0.25, lane)
        self._wander = np.zeros(end)
        self._load = np.zeros(number)
        self._totals: dict[Metric, Floats] = {}
        self._up = np.ones(number)
        self._host = np.array([self._host_number(run.far[0]) for run in self.hall.runs])
        hosts = int(self._host.max()) + 1
        self._dark = np.zeros(hosts)
        self._booted = np.full(hosts, START - 40 * DAY)
        self._phase = {name: float(roll.uniform(0, self.period / 3)) for name in self.hall.devices}

    @staticmethod
    def _host_number(name: str) -> int:
        return int(name.rpartition("-")[2])

    def poll(self, number: int) -> list[Batch]:
        """Return what every device answered at one poll; a lost answer is not there."""
        at = START + number * self.period
        slots = self._read(at, number)
        values = np.stack([slot[2] for slot in slots])
        found = []
        for device in self.hall.devices:
            host = None if device.startswith("leaf") else self._host_number(device)
            if self.chance.random() < POLL_LOST or (host is not None and self._dark[host] > 0):
                continue
            clock, series, link, end = self._row(device, slots)
            boot = START - 40 * DAY if host is None else self._booted[host]
            given = np.append(values[:, link, end].ravel(), boot)
            found.append(Batch(clock, at + self._phase[device], series, given))
        return found

    def _row(self, device: str, slots: list[Slot]) -> tuple[int, Ids, Ids, Ids]:
        """Return clock, series, and (link, end) of each port of a device."""
        if device not in self._rows:
            mine = self.hall.of_device(device)
            runs = self.hall.runs
            keys = [
                (metric, (*(runs[link].near, runs[link].far)[end], *more))
                for metric, more, _ in slots
                for link, end in mine
            ]
            keys.append((devices.BOOT_TIME, (device,)))
            self._rows[device] = (
                self.table.clock("quiet", device),
                self.table.intern_all(keys),
                np.array([link for link, _ in mine], np.int32),
                np.array([end for _, end in mine], np.int32),
            )
        return self._rows[device]

    def _live(self, at: float) -> Floats:
        """Let jobs, restarts and falls happen; return falls [link] since the poll before."""
        roll, week = self.chance, 7 * DAY
        hosts = len(self._dark)
        changes = roll.random(hosts) < self.period / (HOUR_OF_A_JOB * 3600)
        fresh = np.where(roll.random(hosts) < 0.2, 0.0, roll.uniform(0.2, 0.9, hosts))
        self._load = np.where(changes[self._host], fresh[self._host], self._load)
        back = self._dark == 1
        self._booted = np.where(back, at - 20.0, self._booted)
        self._dark = np.maximum(self._dark - 1, 0)
        falls = roll.random(hosts) < RESTARTS_A_WEEK * self.period / week
        self._dark = np.where(falls, RESTART_POLLS, self._dark)
        was = self._up
        self._up = np.where(self._dark[self._host] > 0, 0.0, 1.0)
        alone = roll.random(len(was)) < FALLS_A_WEEK * self.period / week
        for metric, total in self._totals.items():
            if metric is not ports.LINK_DOWNS:
                total[back[self._host], 1] = 0.0
        return np.asarray(np.maximum((was > self._up) * 1.0, alone * self._up), np.float64)

    def _read(self, at: float, number: int) -> list[Slot]:
        made, roll = self.hall.technology, self.chance
        falls = self._live(at)
        day = np.sin(2 * np.pi * number * self.period / DAY)
        heat = self._warm + 3.0 * day + 2.0 * self._load[:, None]
        heat = heat + roll.normal(0, 0.15, heat.shape)
        sent = self._sent + roll.normal(0, 0.02, self._sent.shape)
        received = sent[:, ::-1] - self._loss + roll.normal(0, 0.02, sent.shape)
        fallen = NOMINAL_DBM - 1.2 - received
        noise = 10 ** (-SENT_DB / 10) + 10 ** (-(THERMAL_DB - 2.0 * fallen) / 10)
        self._wander = 0.997 * self._wander + roll.normal(0, WANDERS, self._wander.shape)
        signal = -decibels(noise) - self._weak - 0.1 * self._wander[..., None]
        ratio = wrong_bits(signal).mean(axis=2)
        words = np.floor(made.line_rate * 1e9 / (made.code.symbols * BITS) * self.period)
        seen = count(made.code, ratio.ravel(), np.zeros(ratio.size), np.full(ratio.size, words),
                     roll)  # fmt: skip
        up = np.repeat(self._up[:, None], 2, axis=1)
        lit = np.where(up > 0, 1.0, np.nan)
        carried = np.floor(made.speed * 1e9 / 8 * self.period * self._load[:, None] * up)
        bits = seen.bits.reshape(up.shape) * up
        slots: list[Slot] = [
            (ports.UP, (), up), (ports.ADMIN_UP, (), np.ones(up.shape)),
            (ports.SPEED, (), made.speed * 1e9 * lit), (ports.LANES, (), made.lanes * lit),
            self._count(ports.RX_BYTES, carried), self._count(ports.TX_BYTES, carried),
            self._count(ports.LINK_DOWNS, np.repeat(falls[:, None], 2, axis=1)),
            self._count(ports.FEC_CORRECTED_BITS, bits),
            self._count(ports.FEC_UNCORRECTABLE_CODEWORDS, seen.lost.reshape(up.shape)),
            (optics.TEMPERATURE, (), np.round(heat, 1)),
        ]  # fmt: skip
        if made.counts == "ethernet":
            slots.append(self._count(ports.RX_CRC_ERRORS, np.zeros(up.shape)))
        else:
            none = (ports.SYMBOL_ERRORS, ports.LINK_RECOVERIES, ports.REPLAYS)
            slots += [self._count(metric, np.zeros(up.shape)) for metric in none]
            slots.append((ports.PRE_FEC_BER, (), np.where(up > 0, ratio, np.nan)))
        drawn = self._bias * np.exp(0.35 * (heat[..., None] - 45.0) / THRESHOLD_KELVIN)
        for lane in range(made.lanes):
            name = (str(lane + 1),)
            slots += [
                (optics.RX_POWER, name, np.round(received[..., lane], 2)),
                (optics.TX_POWER, name, np.round(sent[..., lane], 2)),
                (optics.TX_BIAS, name, np.round(drawn[..., lane], 5)),
            ]
            read = signal[..., lane] + roll.normal(0, 0.08, up.shape)
            slots.append((optics.SNR, (*name, "media"), np.round(read, 2)))
        return slots

    def _count(self, metric: Metric, grown: Floats) -> Slot:
        total = self._totals.setdefault(metric, np.zeros(grown.shape))
        total += grown
        return metric, (), total.copy()
