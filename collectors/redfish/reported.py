"""Reported: values that a metric report or an event gives, under the series of their properties.

A report names a value by the property that it is of. Where the resource was read before, its layout
says what series that is and in which unit it counts; where it was not (a report alone), the
property's own name does.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from collectors.maps import redfish_rules
from collectors.maps.columns import Columns
from collectors.maps.quantities import step
from collectors.maps.redfish_rules import WORDS, Rule
from collectors.protocols.redfish import reports
from collectors.protocols.redfish.documents import Body, last, place
from collectors.protocols.redfish.reports import Message, Value
from collectors.redfish.cells import Cell
from collectors.redfish.sheet import Sheet
from fabrichealth.model import Reason, SeriesTable

LEAKS: Mapping[str, str] = {"LeakDetectedCritical": "Critical", "LeakDetectedWarning": "Warning"}
"""What a detector says, by the message that tells of it (DSP2065, Environmental registry).

That one is dry again says nothing of the others of its zone; the next visit does.
"""

KINDS = ("Power", "Thermal", "EnvironmentMetrics", "ThermalMetrics", "PowerSupplyMetrics")
"""Kinds whose places end in their name, with or without what stands before it."""


MOST_KNOWN = 20_000
"""Properties and reports that are remembered; a service has some hundreds."""


@dataclass(slots=True)
class Reported:
    """Values of reports and events of one target; outlives polls."""

    table: SeriesTable
    device: str
    stale_after: float
    _seen: dict[str, tuple[object, object]] = field(default_factory=dict)
    _known: dict[tuple[str, tuple[str, ...]], tuple[Cell, ...]] = field(default_factory=dict)

    def forget(self) -> None:
        """Look everything up anew: what properties are has changed."""
        self._known.clear()

    def covered(self, report: Body, sheet: Sheet) -> set[str]:
        """Return the resources of which a report tells everything that is wanted."""
        told: dict[str, set[tuple[str, ...]]] = {}
        for one in reports.values(report):
            cells = self._cells(one.path, one.pointer, sheet)
            told.setdefault(one.path, set()).update(cell.path for cell in cells)
        found = set()
        for path, leaves in told.items():
            known = sheet.layout(path)
            if known is not None and {one.path for one in known.cells if _read(one)} <= leaves:
                found.add(path)
        return found

    def take(
        self,
        report: Body,
        sheet: Sheet,
        at: float,
        by_time: dict[float, Columns],
        *,
        pushed: bool = False,
    ) -> None:
        """Take a report read, or pushed, at `at` (unix seconds), each value at its own time."""
        path = place(report.get("@odata.id"))
        mark = (report.get("ReportSequence"), report.get("Timestamp"))
        before = self._seen.get(path)
        if path and any(mark) and before == mark:
            return  # the same report still: nothing was measured since
        if len(self._seen) >= MOST_KNOWN:
            self._seen.clear()
        self._seen[path] = mark
        rows = reports.values(report)
        fresh = pushed or before is not None
        newest = max((one.at for one in rows if one.at is not None), default=at)
        shift = self._shift(newest, at) if fresh else 0.0
        unknown = 0
        for one in rows:
            cells = self._cells(one.path, one.pointer, sheet) or self._guessed(one, sheet)
            unknown += not cells
            columns = _at(by_time, self.table, at if one.at is None else one.at + shift)
            for cell in cells:
                columns.take(cell.metric, cell.labels, sheet.value(cell, one.value, columns))
        if unknown and not self._known:
            columns = _at(by_time, self.table, at)
            labels = {"device": self.device}
            columns.refuse(Reason.UNSUPPORTED, last(path) or "MetricReport", labels, unknown)

    def hear(
        self, messages: Iterable[Message], sheet: Sheet, at: float, by_time: dict[float, Columns]
    ) -> None:
        """Take what messages say of detectors: one that is wet for a moment was wet."""
        for one in messages:
            state = LEAKS.get(last(one.code.replace(".", "/")))
            if state is None or not one.origin:
                continue
            columns = _at(by_time, self.table, self.moment(one, at))
            for cell in self._cells(one.origin, ("DetectorState",), sheet):
                columns.take(cell.metric, cell.labels, sheet.value(cell, state, columns))

    def moment(self, message: Message, at: float) -> float:
        """Return when what a message tells was so; it came at `at` (unix seconds)."""
        if message.at is None:
            return at
        return message.at + self._shift(message.at, at)

    def _shift(self, stamp: float, at: float) -> float:
        """Return what a stamp is wrong by, of what came just now: the clock of a controller.

        A leak must not be lost because its teller lives in another year.
        """
        return at - stamp if abs(at - stamp) > self.stale_after else 0.0

    def _cells(self, path: str, pointer: tuple[str, ...], sheet: Sheet) -> tuple[Cell, ...]:
        key = (path, pointer)
        found = self._known.get(key)
        if found is None:
            layout = sheet.layout(path)
            wanted = {pointer, (*pointer, "Reading")}
            told = layout.cells if layout is not None else ()
            found = tuple(cell for cell in told if cell.path in wanted)
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            if layout is not None:
                self._known[key] = found
        return found

    def _guessed(self, one: Value, sheet: Sheet) -> tuple[Cell, ...]:
        """Return what a property of a resource that nobody read is, by its name alone."""
        if sheet.layout(one.path) is not None or not one.pointer:
            return ()
        names = [step for step in one.pointer if step != "Reading" and not step.isdigit()]
        of = last(one.path)
        if not names or of not in KINDS:
            return ()
        rules = _rules_of(of, names[-1])
        labels = sheet.names.of(one.path, {})
        told = {label: sheet.names.item(label, one.path, labels, one.name or names[-1])
                for label in ("sensor", "fan", "unit")}  # fmt: skip
        known = {**labels, **told}
        return tuple(
            _bare(rule, tuple(known[label] for label in rule.to.labels), one.pointer)
            for rule in rules
            if all(label in known for label in rule.to.labels)
        )


def _bare(rule: Rule, labels: tuple[str, ...], pointer: tuple[str, ...]) -> Cell:
    worth = step(rule.measure)
    return Cell(
        0, pointer, rule.to, labels, rule, worth.times, worth.over, worth.offset,
        WORDS.get(rule.form), due=False, level=True, absent=frozenset(),
    )  # fmt: skip


@cache
def _rules_of(of: str, name: str) -> tuple[Rule, ...]:
    return tuple(_rules(redfish_rules.rules()[of], name))


def _rules(known: Mapping[str, tuple[Rule, ...]], name: str) -> Iterator[Rule]:
    for path, rules in known.items():
        if last(path) == name:
            yield from (rule for rule in rules if not rule.zero)


def _read(cell: Cell) -> bool:
    """Return whether a cell is a reading; a limit changes when somebody sets it."""
    return not cell.rule.zero


def _at(by_time: dict[float, Columns], table: SeriesTable, when: float) -> Columns:
    found = by_time.get(when)
    if found is None:
        found = by_time[when] = Columns(table)
    return found
