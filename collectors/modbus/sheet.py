"""Registers of one device as readings: series laid out once, then whole columns a poll."""

from collections.abc import Container, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from collectors.maps.columns import Columns
from collectors.maps.places import Places
from collectors.maps.power_balance import PowerBalance
from collectors.maps.register_maps import Mapped, RegisterMap
from collectors.protocols.modbus_registers import Decoded, Registers, Verdict, Words
from fabrichealth.counters import Repair
from fabrichealth.model import Reason, SeriesTable

REASON = {
    Verdict.SENTINEL: Reason.SENSOR_FAULT,
    Verdict.IMPLAUSIBLE: Reason.IMPLAUSIBLE,
    Verdict.SWAPPED: Reason.IMPLAUSIBLE,
    Verdict.STRANGE: Reason.MALFORMED,
}

WORDS = {
    Verdict.READ: "contradicts others of its feed",
    Verdict.SENTINEL: "no sensor",
    Verdict.IMPLAUSIBLE: "implausible; check type, scale and valid",
    Verdict.SWAPPED: "words exchanged",
    Verdict.STRANGE: "none of the values that `is` names",
}


class Sheet:
    """The registers of a map, and the series that they are."""

    def __init__(self, table: SeriesTable, places: Places, known: RegisterMap) -> None:
        self.known = known
        self.registers = Registers([one.register for one in known.entries])
        self._places = places
        self.series = table.intern_all(
            (one.metric, tuple(self._labels(one).values())) for one in known.entries
        )
        self._balance = PowerBalance(table, self.series)
        self._wrapping = [row for row, one in enumerate(known.entries) if one.most]
        self.repair = Repair()

    def take(self, words: Words, came: NDArray[np.bool_], at: float, columns: Columns) -> Decoded:
        """Take what words [n] said at `at`, as far as they came [n]."""
        decoded = self.registers.decode(words, came)
        values = decoded.values
        for row in self._wrapping:
            if np.isfinite(values[row]):
                values[row] = self._repaired(row, int(decoded.raw[row]), at)
        for row in np.flatnonzero(decoded.verdicts > Verdict.MISSING).tolist():
            one = self.known.entries[row]
            why = REASON[Verdict(decoded.verdicts[row])]
            columns.refuse(why, str(one.metric), self._labels(one), self.says(decoded, row))
        for doubt in self._balance.doubts(values):
            for row in doubt.rows[np.isfinite(values[doubt.rows])].tolist():
                one = self.known.entries[row]
                columns.refuse(Reason.IMPLAUSIBLE, str(one.metric), self._labels(one), doubt.says)
            values[doubt.rows] = np.nan
        good = np.isfinite(values)
        columns.put_all(self.series[good], values[good])
        return decoded

    def _repaired(self, row: int, raw: int, at: float) -> float:
        """Return a counter with its wraps undone."""
        one, series = self.known.entries[row], int(self.series[row])
        steps = self.repair.monotone(series, raw, at, bits=one.bits, most_per_second=one.most)
        return steps * one.register.times / one.register.over + one.register.offset

    def lines(self, decoded: Decoded, refused: Mapping[int, str]) -> Iterator[str]:
        """Yield a line a register, for a person: where it lies, what stands there, what it is."""
        for row, one in enumerate(self.known.entries):
            value = float(decoded.values[row])
            if np.isfinite(value):
                said = f"{value:.10g} {one.metric.unit.value}".rstrip()
            elif decoded.verdicts[row] == Verdict.MISSING:
                said = f"not read: {refused.get(row, 'no answer')}"
            else:
                said = f"refused: {WORDS[Verdict(decoded.verdicts[row])]}"
                if decoded.verdicts[row] == Verdict.SWAPPED:
                    said += f", {self.says(decoded, row)}"
            raw = f"raw {decoded.raw[row]:.10g}" if np.isfinite(decoded.raw[row]) else "-"
            yield f"{one.name:32} {one.shown:28} {raw:20} {said}"

    def says(self, decoded: Decoded, row: int) -> object:
        """Return what a register said that was not taken, for a message."""
        verdict, raw = decoded.verdicts[row], float(decoded.raw[row])
        if verdict == Verdict.SWAPPED:
            worth = self.known.entries[row].register
            return (
                f"{_worth(raw, worth.times, worth.over, worth.offset):.6g} implausible, "
                f"{decoded.swapped[row]:.6g} in the other order of words; check word_order"
            )
        return raw if np.isfinite(raw) else "no number"

    def missing(self, came: NDArray[np.bool_], known: Container[int]) -> list[str]:
        """Return the names of registers of which words did not come, but for those known."""
        return [
            one.name
            for row, one in enumerate(self.known.entries)
            if row not in known and not came[self.registers.words_of(row)].all()
        ]

    def absent(self, row: int, why: str, columns: Columns) -> None:
        """Refuse a register that the device does not have."""
        one = self.known.entries[row]
        columns.refuse(Reason.UNSUPPORTED, str(one.metric), self._labels(one), why)

    def failed(self, row: int, why: str, columns: Columns) -> None:
        """Refuse a register that the device could not read now."""
        one = self.known.entries[row]
        columns.refuse(Reason.FAILED, str(one.metric), self._labels(one), why)

    def _labels(self, one: Mapped) -> Mapping[str, str]:
        """Return the labels of a register's series, in the metric's order."""
        places = self._places
        rack, feed = places.rack, ""
        if "feed" in one.metric.labels:
            rack, feed = places.feed(one.inlet)
        own = {
            "device": places.device,
            "rack": rack,
            "feed": feed,
            "loop": places.facility if one.side else places.loop,
        }
        return {label: own.get(label, one.labels.get(label, "")) for label in one.metric.labels}


def _worth(raw: float, times: float, over: float, offset: float) -> float:
    return raw * times / over + offset
