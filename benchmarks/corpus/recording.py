"""Recording: what a collector would have stored of a cable, series by series.

Counters are monotone and start anywhere; where a device starts anew they fall to what it counts
since. Nothing is written for polls in which a device was silent.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.corpus.cable import Cable
from benchmarks.corpus.codes import BITS, Counted, Floats, count, wrong_bits
from benchmarks.corpus.hall import Run
from fabrichealth.catalogue import optics, ports
from fabrichealth.metric import Metric

Series = tuple[Metric, dict[str, str], Floats]
"""Metric, labels and values [k]; NaN was not read."""
MODULE_LIMITS = {
    ("temperature", "high", "alarm"): 75.0, ("temperature", "high", "warning"): 70.0,
    ("temperature", "low", "alarm"): -5.0, ("temperature", "low", "warning"): 0.0,
    ("rx_power", "high", "alarm"): 5.0, ("rx_power", "high", "warning"): 4.0,
    ("rx_power", "low", "warning"): -7.0, ("rx_power", "low", "alarm"): -9.0,
    ("tx_power", "high", "alarm"): 5.0, ("tx_power", "high", "warning"): 4.0,
    ("tx_power", "low", "warning"): -4.0, ("tx_power", "low", "alarm"): -6.0,
    ("tx_bias", "high", "alarm"): 0.12, ("tx_bias", "high", "warning"): 0.11,
    ("tx_bias", "low", "warning"): 0.02, ("tx_bias", "low", "alarm"): 0.01,
}  # fmt: skip
"""Limits as such a module has them in its memory."""
MODULES_EVERY = 300.0
"""Seconds between two readings of a module, where ports are read more often."""
HOST_SIDE_DB = 22.0
RETRANSMITTED = 0.9
"""Share of spoiled codewords that carried data."""


def record(run: Run, cable: Cable, chance: np.random.Generator) -> Iterator[Series]:
    """Yield the series of both ends of a link."""
    ratio = cable.ratio()
    for end in (0, 1):
        device, port = (run.near, run.far)[end]
        here = {"device": device, "port": port}
        told = np.where(cable.silent[end] == 0, 1.0, np.nan)
        for metric, labels, values in _port(cable, end, ratio[1 - end], chance):
            yield metric, {**here, **labels}, values * told
        if cable.technology.medium == "backplane":
            continue
        seldom = np.where(np.arange(len(cable.at)) % _stride(cable) == 0, told, np.nan)
        for metric, labels, values in _module(run, cable, end, chance):
            yield metric, {**here, **labels}, values * seldom


def _stride(cable: Cable) -> int:
    """Return of how many polls one reads the modules."""
    return max(1, int(MODULES_EVERY / np.median(np.diff(cable.at))))


def _port(cable: Cable, end: int, ratio: Floats, chance: np.random.Generator) -> Iterator[Series]:
    made, at = cable.technology, cable.at
    way = 1 - end
    up = cable.up * (cable.admin.min(axis=0))
    step = np.diff(at, prepend=at[0] - np.median(np.diff(at)))
    yield ports.UP, {}, up
    yield ports.ADMIN_UP, {}, cable.admin[end]
    lit = np.where(up > 0, 1.0, np.nan)
    yield ports.SPEED, {}, made.speed * 1e9 * cable.width * lit
    yield ports.LANES, {}, np.round(made.lanes * cable.width) * lit
    begins = _begins(cable, end)
    bytes_ = made.speed * 1e9 / 8 * step * up * cable.width * cable.load
    for metric, share in ((ports.RX_BYTES, 0.98), (ports.TX_BYTES, 1.0)):
        yield metric, {}, _counter(np.floor(bytes_ * share), begins, chance, 1e15)
    words = made.line_rate * 1e9 / (made.code.symbols * BITS) * step * up * cable.width
    seen = count(made.code, ratio, cable.bursts[way] * step, np.floor(words), chance)
    yield ports.LINK_DOWNS, {}, _counter(cable.falls, begins, chance, 4)
    yield from _errors(cable, end, seen, words, begins, chance)


def _errors(
    cable: Cable, end: int, seen: Counted, words: Floats, begins: list[int],
    chance: np.random.Generator,
) -> Iterator[Series]:  # fmt: skip
    made = cable.technology
    step = np.diff(cable.at, prepend=cable.at[0])
    bits = words * made.code.symbols * BITS
    again = chance.poisson(seen.lost * np.minimum(seen.lost / np.maximum(words, 1.0), 1.0))
    retrained = chance.poisson(cable.retrains[1 - end] * step).astype(np.float64)
    frames = np.floor(seen.lost * RETRANSMITTED)

    def counter(metric: Metric, values: Floats, start: float = 0.0) -> Series:
        return metric, {}, _counter(values, begins, chance, start)

    if made.counts == "ethernet":
        yield counter(ports.RX_CRC_ERRORS, frames)
        yield counter(ports.FEC_UNCORRECTABLE_CODEWORDS, seen.lost)
        if end == 0:
            yield counter(ports.FEC_CORRECTED_CODEWORDS, seen.corrected, 1e9)
            for errors, values in enumerate(seen.histogram):
                cumulative = _counter(values, begins, chance, 0.0)
                yield ports.FEC_CODEWORDS, {"errors": str(errors)}, cumulative
        else:
            yield counter(ports.FEC_CORRECTED_BITS, seen.bits, 1e9)
        return
    yield counter(ports.LINK_RECOVERIES, retrained)
    yield counter(ports.REPLAYS, frames, 10)
    if made.counts == "infiniband":
        yield counter(ports.SYMBOL_ERRORS, again.astype(np.float64))
        yield counter(ports.FEC_CORRECTED_SYMBOLS, seen.symbols, 1e9)
        known = np.where(bits > 0, bits, np.nan)
        yield ports.PRE_FEC_BER, {}, _digits(seen.bits / known)
        yield ports.POST_FEC_BER, {}, _digits(seen.lost * (made.code.corrects + 1) / known)
        yield ports.SYMBOL_ERROR_RATIO, {}, _digits(again / known)
    else:
        yield counter(ports.RX_CRC_ERRORS, frames)
        yield counter(ports.FEC_CORRECTED_SYMBOLS, seen.symbols, 1e9)
        yield counter(ports.FEC_UNCORRECTABLE_CODEWORDS, seen.lost)


def _module(run: Run, cable: Cable, end: int, chance: np.random.Generator) -> Iterator[Series]:
    made, polls = cable.technology, len(cable.at)
    way = 1 - end
    yield optics.TEMPERATURE, {}, np.round(cable.temperature[end], 1)
    facts = {"vendor": "Lumen", "part": "L400", "serial": f"S{run.number:04d}{end}",
             "lot": run.lots[end], "firmware": "2.1", "kind": _sort(made.medium)}  # fmt: skip
    yield optics.OPTICS_INFO, facts, np.ones(polls)
    if not made.lit:
        return
    for (quantity, bound, level), limit in MODULE_LIMITS.items():
        which = {"quantity": quantity, "bound": bound, "level": level}
        yield optics.THRESHOLD, which, np.full(polls, limit)
    signal = cable.signal()
    for lane in range(made.lanes):
        name = {"lane": str(lane + 1)}
        yield optics.RX_POWER, name, np.round(cable.received[way, lane], 2)
        yield optics.TX_POWER, name, np.round(cable.sent[end, lane], 2)
        yield optics.TX_BIAS, name, np.round(cable.bias[end, lane], 5)
        yield optics.LOS, {**name, "side": "media"}, (cable.received[way, lane] <= -30) * 1.0
        if made.diagnoses:
            read = signal[way, lane] + chance.normal(0, 0.08, polls)
            yield optics.SNR, {**name, "side": "media"}, np.round(np.maximum(read, 0.0), 2)
    if made.diagnoses:
        media = 0.75 * _q(np.maximum(signal[way], 0)).mean(axis=0)
        yield optics.PRE_FEC_BER, {"side": "media", "lane": ""}, _digits(media)
        yield optics.PRE_FEC_BER, {"side": "host", "lane": ""}, _digits(cable.electrical[end])
        host = HOST_SIDE_DB - np.maximum(np.log10(cable.electrical[end] / 1e-9), 0.0) * 0.7
        for lane in range(made.lanes):
            read = host + chance.normal(0, 0.08, polls)
            yield optics.SNR, {"lane": str(lane + 1), "side": "host"}, np.round(read, 2)


def _q(snr_db: Floats) -> Floats:
    return np.asarray(np.maximum(wrong_bits(snr_db) / 0.75, 1e-15), np.float64)


def _sort(medium: str) -> str:
    return medium if medium in {"lpo", "aec", "dac"} else "pluggable"


def _begins(cable: Cable, end: int) -> list[int]:
    """Return the polls at which the counters of an end began anew."""
    return [poll for where, poll in cable.resets if where == end]


def _counter(
    deltas: Floats, begins: list[int], chance: np.random.Generator, start: float
) -> Floats:
    """Return a counter over its growth between polls; it starts anywhere up to `start`."""
    values = np.floor(chance.uniform(0, start)) + np.cumsum(deltas)
    for poll in begins:
        values[poll:] -= values[poll - 1] if poll else 0.0
    return np.asarray(values, np.float64)


def _digits(ratio: Floats) -> Floats:
    """Return ratios with three digits, as devices print them."""
    safe = np.where(ratio > 0, ratio, 1.0)
    scale = 10.0 ** (2 - np.floor(np.log10(safe)))
    return np.asarray(np.where(ratio > 0, np.round(ratio * scale) / scale, ratio), np.float64)
