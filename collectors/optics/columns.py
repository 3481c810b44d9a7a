"""Memories of many modules -> columns of the catalogue, a few array operations a layout.

What a module is, and where its values lie, is worked out when it is plugged; after that a poll of
known modules builds no label and no object per value. What is wrong with a module is counted once,
when it is first seen so.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from collectors.maps import modules
from collectors.maps.columns import Columns
from collectors.optics.reading import STANDING
from collectors.protocols import module
from collectors.protocols.module import HALF, Memory
from collectors.protocols.optics.identity import identity_of
from collectors.protocols.optics.layout import MOST_LAYOUTS, Layout, Layouts, stacked
from collectors.protocols.optics.presence import ONES, usable
from collectors.protocols.optics.reference import NOT_ABOVE
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Ids, Reason, SeriesTable

METRICS = modules.METRICS


class Cage(NamedTuple):
    """One module, and whose it is."""

    device: str
    port: str
    memory: Memory

    @property
    def labels(self) -> dict[str, str]:
        """Labels of what is refused about it."""
        return {"device": self.device, "port": self.port}


@dataclass(frozen=True, slots=True)
class _Known:
    """What is kept of a plugged module: its layout and series, and what they follow from."""

    layout: Layout
    series: Ids
    info: tuple[int, ...]
    pages: Set[str]
    """Names of the pages that were read."""
    standing: Mapping[str, bytes]
    """Pages that do not move while the module is plugged."""
    said: bytes
    """What its lower memory says of what it is."""
    unusable: Mapping[str, bytes]
    """Pages that are not what they should be; another content may be."""


@dataclass(slots=True)
class ModuleColumns:
    """Turns memories into columns; outlives polls."""

    table: SeriesTable
    _layouts: Layouts = field(default_factory=Layouts)
    _maps: dict[int, tuple[Layout, modules.Columns]] = field(default_factory=dict)
    """By the identity of a layout, which is kept with its map so that it stays the same one."""
    _known: dict[tuple[str, str], _Known] = field(default_factory=dict)

    def take(self, cages: Iterable[Cage], columns: Columns) -> None:
        """Take what modules tell; one that tells nonsense is refused, its neighbours are not."""
        ready: dict[int, list[tuple[Cage, _Known, bytes]]] = {}
        for cage in cages:
            try:
                known = self._of(cage, columns)
                image = known.layout.image(cage.memory)
            except MalformedReply as wrong:
                self._refuse(cage, wrong, columns)
                continue
            ready.setdefault(id(known.layout), []).append((cage, known, image))
        for rows in ready.values():
            self._decode(rows, columns)

    def _decode(self, rows: list[tuple[Cage, _Known, bytes]], columns: Columns) -> None:
        layout = rows[0][1].layout
        images = stacked(image for _, _, image in rows)
        fits = layout.fits(images)
        if not fits.all():  # lanes or selectors were changed: another layout from now on
            for row in np.flatnonzero(~fits).tolist():
                cage = rows[row][0]
                try:
                    anew = self._plug(cage, columns, anew=False)
                except MalformedReply as wrong:
                    self._refuse(cage, wrong, columns)
                else:
                    self._decode([(cage, anew, anew.layout.image(cage.memory))], columns)
            rows = [row for row, fit in zip(rows, fits.tolist(), strict=True) if fit]
            images = images[fits]
        values = self._map(layout).values(layout.decode(images)).ravel()
        series = np.concatenate([np.empty(0, np.int32), *(known.series for _, known, _ in rows)])
        told = np.isfinite(values)
        columns.put_all(series[told], values[told])
        for _, known, _ in rows:
            for one in known.info:
                columns.put(one, 1.0)

    def _refuse(self, cage: Cage, wrong: MalformedReply, columns: Columns) -> None:
        self._known.pop((cage.device, cage.port), None)
        columns.refuse(Reason.MALFORMED, "module", cage.labels, str(wrong))

    def _of(self, cage: Cage, columns: Columns) -> _Known:
        """Return what is known of a module; worked out anew if what it follows from is other."""
        known = self._known.get((cage.device, cage.port))
        memory = cage.memory
        if (
            known is None
            or known.pages != memory.pages.keys()
            or known.said != _said(memory, known.layout)
            or any(memory.pages[page] != half for page, half in known.standing.items())
            or any(memory.pages[page] != half for page, half in known.unusable.items())
            or any(_is_none(memory, page) for page in known.layout.halves)
        ):
            return self._plug(cage, columns)
        return known

    def _plug(self, cage: Cage, columns: Columns, *, anew: bool = True) -> _Known:
        """Work out what a module is.

        Raises:
            MalformedReply: the identifier is not known, or lower memory or page 00h is not whole.
        """
        layout = self._layouts.of(cage.memory)
        names = self._map(layout).names
        place = (cage.device, cage.port)
        series = [self.table.intern(metric, (*place, *labels)) for metric, labels in names]
        info = [
            self.table.intern(metric, (*place, *labels))
            for metric, labels, _ in modules.identity(identity_of(cage.memory))
        ]
        if anew:
            _say_what_is_wrong(cage, layout, columns)
        pages = cage.memory.pages
        moving = {page.name: page.changes for page in layout.presence.standard.pages}
        known = self._known[place] = _Known(
            layout,
            np.array(series, np.int32),
            tuple(info),
            frozenset(pages),
            {page: half for page, half in pages.items() if not moving.get(page.rpartition(":")[2])},
            _said(cage.memory, layout),
            {page: pages[page] for page in usable(cage.memory, layout.presence.standard)[1]},
        )
        return known

    def _map(self, layout: Layout) -> modules.Columns:
        known = self._maps.get(id(layout))
        if known is None or known[0] is not layout:
            if len(self._maps) >= MOST_LAYOUTS:
                self._maps.clear()
            known = layout, modules.columns([cell.item for cell in layout.cells])
            self._maps[id(layout)] = known
        return known[1]


def _said(memory: Memory, layout: Layout) -> bytes:
    """Return the bytes of lower memory that say what a module is: of an SFP all of them."""
    match layout.presence.standard.name:
        case module.SFP:
            return memory.lower
        case module.CMIS:
            return bytes(memory.lower[byte] for byte in STANDING if byte < len(memory.lower))
    return memory.lower[:1]


def _is_none(memory: Memory, page: str) -> bool:
    half = memory.pages.get(page, b"") if page else memory.lower
    return len(half) != HALF or half == ONES


def _say_what_is_wrong(cage: Cage, layout: Layout, columns: Columns) -> None:
    """Count pages that are not what the module advertises, sums that are off, unknown types."""
    standard = layout.presence.standard
    _, unusable = usable(cage.memory, standard)
    for page, why in unusable.items():
        known = standard.page(page.rpartition(":")[2])
        if known is not None and all(gate.holds(cage.memory) for gate in known.gates):
            columns.refuse(Reason.MALFORMED, f"page {page}h", cage.labels, why)
    for checksum in standard.checksums:
        if checksum.page not in unusable and cage.memory.has(checksum.page):
            stated, found = checksum.stated(cage.memory)
            if stated != found:
                says = f"{stated:02x}h, not {found:02x}h"
                columns.refuse(Reason.MALFORMED, f"checksum {checksum.place}", cage.labels, says)
    for cell in layout.unbelieved(layout.image(cage.memory)):
        item = cell.item
        if item is not None:
            what = f"limits of {item.quantity} ({cell.place})"
            columns.refuse(Reason.IMPLAUSIBLE, what, cage.labels, NOT_ABOVE)
    for kind, count in sorted(layout.presence.unknown.items()):
        columns.refuse(Reason.UNSUPPORTED, f"observable type {kind}", cage.labels, count)
