"""Recording: what a recorder keeps of a link, in the form of contract 3.

Instruments add their own noise and steps to what is true. Limits and identities are written once
an hour, as are the flags: each says whether it was up at all since the last time.
"""

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import orjson

from emulator import fec
from emulator.light import DARK_DBM, Floats, bit_error_rate
from emulator.module_kinds import SUPPLY, TEMPERATURE, Limits
from emulator.optics import LASER_CELSIUS, LIGHT_LOST_DBM
from emulator.optics_fleet.fleet import Link
from emulator.optics_fleet.physics import End, Weather

HOUR = 3600.0
TENTH_MICROWATT = 1e-4
"""mW: the step of a module's power registers."""
SERIES = tuple[dict[str, str], Floats, Floats]
"""Labels, values, unix seconds."""
BOUNDS = (("high", "alarm"), ("low", "alarm"), ("high", "warning"), ("low", "warning"))
EXPONENTS = np.arange(-12.0, -0.3, 0.02)
LOST = np.array([fec.spectrum(10.0**exponent)[-1] for exponent in EXPONENTS])
"""Share of codewords that are lost, by the logarithm of the error rate."""


def write(path: Path, series: Iterable[SERIES]) -> int:
    """Write series as packed JSON lines; return how many samples they hold.

    The same series give the same bytes, whenever they are written.
    """
    count = 0
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 1, raw, mtime=0) as packed:
        stamps: dict[int, bytes] = {}
        for labels, values, at in series:
            key = id(at)
            if key not in stamps:
                stamps[key] = orjson.dumps((at * 1000).astype(np.int64).tolist())
            _line(packed, labels, values, stamps[key])
            count += len(values)
    return count


def _line(
    file: BinaryIO | gzip.GzipFile, labels: dict[str, str], values: Floats, at: bytes
) -> None:
    told = orjson.dumps(np.ascontiguousarray(values), option=orjson.OPT_SERIALIZE_NUMPY)
    file.write(b'{"metric":%b,"values":%b,"timestamps":%b}\n' % (orjson.dumps(labels), told, at))


def record(
    link: Link,
    ends: tuple[End, End],
    sky: Weather,
    times: tuple[Floats, Floats],
    random: np.random.Generator,
) -> Iterator[SERIES]:
    """Yield the series of a link; `times` are the polls and the hours, unix seconds."""
    at, hours = times
    for number, end in enumerate(ends):
        device, _, port = link.ends[number].partition("/")
        own = {"device": device, "port": port}
        for name, extra, values in (*_port(link, end, sky, random), *_module(link, end, random)):
            yield {"__name__": f"fabric_{name}", **own, **extra}, values, at
        every = max(round(HOUR / sky.step), 1)
        for name, extra, values in _hourly(link, number, end, every):
            yield {"__name__": f"fabric_{name}", **own, **extra}, values[: len(hours)], hours


ROW = tuple[str, dict[str, str], Floats]
"""Name without prefix, labels beside device and port, values."""


def _port(link: Link, end: End, sky: Weather, random: np.random.Generator) -> Iterator[ROW]:
    """Yield what the port behind the module counts."""
    up, kind = end.up, link.kind
    yield "port_up", {}, up
    yield "port_speed_bits_per_second", {}, np.full(len(up), kind.gbps * 1e9)
    bits = kind.line_gbps * 1e9 * sky.step * up
    errors = random.poisson(np.minimum(end.ber * bits, 1e15))
    yield "port_fec_corrected_bits_total", {}, np.cumsum(errors).astype(np.float64)
    lost = np.interp(np.log10(np.maximum(end.ber, 1e-12)), EXPONENTS, LOST)
    codewords = random.poisson(lost * bits / fec.CODEWORD_BITS)
    yield "port_fec_uncorrectable_codewords_total", {}, np.cumsum(codewords).astype(np.float64)
    yield "port_link_down_total", {}, np.cumsum(np.diff(up, prepend=1.0) < 0).astype(np.float64)


def _module(link: Link, end: End, random: np.random.Generator) -> Iterator[ROW]:
    """Yield what the module measures at each poll."""
    kind, shape = link.kind, end.snr_media.shape
    if not kind.monitored:
        return
    noisy = end.temperature + random.normal(0, 0.1, shape[1])
    yield "optics_temperature_celsius", {}, np.round(noisy * 256) / 256
    supply = random.normal(3.31, 0.01) + random.normal(0, 0.002, shape[1])
    yield "optics_supply_volts", {}, np.round(supply, 4)
    if kind.cooled:
        yield "optics_laser_temperature_celsius", {"lane": "1"}, np.full(shape[1], LASER_CELSIUS)
    by_lane: list[tuple[str, dict[str, str], Floats]] = []
    if kind.optical:
        by_lane += [
            ("optics_rx_power_dbm", {}, _read_light(end.rx_dbm, random)),
            ("optics_tx_power_dbm", {}, _read_light(end.tx_dbm, random)),
        ]
    if kind.laser is not None:
        bias = end.bias_ma * random.normal(1, 0.002, shape)
        by_lane.append(("optics_tx_bias_amperes", {}, np.round(bias * 1e-3, 6)))
    if kind.retimed:
        for side, snr in (("media", end.snr_media), ("host", end.snr_host)):
            seen = np.maximum(snr + random.normal(0, 0.06, shape), 0)
            rate = bit_error_rate(np.maximum(snr + random.normal(0, 0.04, shape), 0))
            by_lane += [
                ("optics_snr_db", {"side": side}, np.round(seen * 256) / 256),
                ("optics_pre_fec_bit_error_ratio", {"side": side}, _three_digits(rate)),
            ]
    for name, labels, values in by_lane:
        for lane, row in enumerate(values, 1):
            yield name, {**labels, "lane": str(lane)}, row


def _hourly(link: Link, number: int, end: End, every: int) -> Iterator[ROW]:
    """Yield identity, limits and flags."""
    kind = link.kind
    hours = -(-len(end.temperature) // every)
    module = link.module(number)
    info = {"media": link.fibres, "connector": "", "kind": kind.kind}
    yield "optics_info", {**module, **info}, np.ones(hours)
    monitors: list[tuple[str, Limits | None, Floats, float]] = [
        ("temperature", TEMPERATURE if kind.monitored else None, end.temperature[None], 1.0),
        ("supply_voltage", SUPPLY if kind.monitored else None, np.full((1, every), 3.31), 1.0),
        ("tx_power", kind.tx, end.tx_dbm, 1.0),
        ("rx_power", kind.rx, end.rx_dbm, 1.0),
        ("tx_bias", kind.bias, end.bias_ma, 1e-3),
    ]
    for quantity, limits, values, unit in monitors:
        if limits is None:
            continue
        bounds = (limits.high_alarm, limits.low_alarm, limits.high_warning, limits.low_warning)
        for (bound, level), limit in zip(BOUNDS, bounds, strict=True):
            which = {"quantity": quantity, "bound": bound, "level": level}
            yield "optics_threshold", which, np.full(hours, round(limit * unit, 9))
            if quantity == "supply_voltage":
                continue
            beyond = values > limit if bound == "high" else values < limit
            for lane, row in enumerate(_ever(beyond, every), 1):
                of = which if quantity == "temperature" else {**which, "lane": str(lane)}
                yield "optics_alarm", of, row
    if kind.optical:
        for lane, row in enumerate(_ever(end.rx_dbm <= LIGHT_LOST_DBM, every), 1):
            yield "optics_los", {"side": "media", "lane": str(lane)}, row


def _ever(flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], every: int) -> Floats:
    """Return for each row whether a flag was up since the last reading, [row, hour]."""
    padded = np.pad(flags, ((0, 0), (every - 1, 0)))[:, : -(-flags.shape[1] // every) * every]
    return np.asarray(padded.reshape(len(flags), -1, every).any(axis=2), np.float64)


def _read_light(dbm: Floats, random: np.random.Generator) -> Floats:
    """Return light as registers give it: steps of 0.1 uW, and a little noise."""
    milliwatts = 10 ** ((dbm + random.normal(0, 0.02, dbm.shape)) / 10)
    steps = np.maximum(np.round(milliwatts / TENTH_MICROWATT), 1)
    read = np.round(10 * np.log10(steps) - 40, 3)
    return np.asarray(np.where(dbm <= DARK_DBM, DARK_DBM, read), np.float64)


def _three_digits(rate: Floats) -> Floats:
    """Return rates with the three digits that F16 always has."""
    scale = 10.0 ** (2 - np.floor(np.log10(np.maximum(rate, 1e-24))))
    return np.asarray(np.round(rate * scale) / scale, np.float64)
