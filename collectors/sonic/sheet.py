"""Sheet: hashes of one kind, laid out once as columns of a poll.

What a hash tells follows from the names in it. As long as they are the same, a poll picks values by
position and turns all of them into floats at once; no label and no object is made.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from collectors.maps.columns import Columns
from collectors.maps.modules import TINY
from collectors.protocols import sonic_values
from collectors.protocols.sonic_values import Hash
from fabrichealth.metric import Metric
from fabrichealth.model import Floats, Ids, Reason, SeriesTable
from fabrichealth.units import DARK_DBM

MOST_FORMS = 1000
"""Different layouts that are kept; a switch has a dozen."""


MOST = 2.0**64
"""No counter holds more, and nothing that is measured is as large."""


class Form(IntEnum):
    """How the text of a field is to be understood."""

    NUMBER = 0
    LIGHT = 1
    """dBm; `-inf` is dark."""
    DARK = 2
    """dBm, of which only whether there is light is wanted: 1 is dark."""
    COMPUTED = 3
    """A number that is negative as long as it was not computed."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One series of a hash: labels after those of the hash, and the fields that are added up."""

    metric: Metric
    labels: tuple[str, ...]
    names: tuple[str, ...]
    worth: float = 1.0
    form: Form = Form.NUMBER


Labels = tuple[str, ...]
Context = tuple[str, ...]
"""What the layout of a hash depends on beside the names in it."""

Hashes = Iterable[tuple[str, Hash, Labels, Context]]
"""Key, content, labels of whom it is about, and context."""

Learn = Callable[[Context, Collection[str]], Iterable[Cell]]
"""Tells what a hash of these names says."""


@dataclass(frozen=True, slots=True)
class _Form:
    """The layout that hashes of the same names and context share."""

    cells: tuple[Cell, ...]
    pick: Callable[[Hash], tuple[bytes, ...]] | None
    texts: int
    places: NDArray[np.intp]
    """Which cell each text [n] adds to."""
    worth: Floats
    """Of each text [n]."""
    forms: NDArray[np.int8]
    """Of each cell [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """The layout of one hash."""

    names: Hash
    labels: Labels
    context: Context
    form: _Form
    pick: Callable[[Hash], tuple[bytes, ...]] | None
    series: Ids
    """Of the cells [m]."""


@dataclass(slots=True)
class _Whole:
    """All rows of a poll behind each other."""

    rows: list[_Row]
    series: Ids
    places: NDArray[np.intp]
    worth: Floats
    forms: NDArray[np.int8]
    plain: bool
    """Every cell is one text and a plain number."""


@dataclass(slots=True)
class Sheet:
    """Hashes of one kind; `flags` says that their values are True and False."""

    table: SeriesTable
    flags: bool = False
    _rows: dict[str, _Row] = field(default_factory=dict)
    _forms: dict[tuple[Context, tuple[bytes, ...], int], _Form] = field(default_factory=dict)
    _whole: _Whole | None = None

    def take(self, hashes: Hashes, learn: Learn, columns: Columns) -> None:
        """Take readings of hashes."""
        rows: list[_Row] = []
        texts: list[bytes] = []
        seen: list[str] = []
        for key, raw, labels, context in hashes:
            row = self._rows.get(key)
            if (
                row is None
                or row.names != raw[0::2]
                or row.context != context
                or row.labels != labels
            ):
                row = self._rows[key] = self._learnt(raw, labels, context, learn)
            seen.append(key)
            if row.pick is not None:
                rows.append(row)
                texts.extend(row.pick(raw))
        if not rows:
            return
        whole = self._whole
        if whole is None or whole.rows != rows:
            self._rows = {key: self._rows[key] for key in seen}  # what is gone is let go
            whole = self._whole = _joined(rows)
        self._decode(whole, texts, columns)

    def _learnt(self, raw: Hash, labels: Labels, context: Context, learn: Learn) -> _Row:
        names = raw[0::2]
        shared = (context, tuple(names), len(raw))
        form = self._forms.get(shared)
        if form is None:
            if len(self._forms) >= MOST_FORMS:
                self._forms.clear()
            form = self._forms[shared] = _formed(raw, context, learn)
        series = self.table.intern_all((cell.metric, labels + cell.labels) for cell in form.cells)
        return _Row(names, labels, context, form, form.pick, series)

    def _decode(self, whole: _Whole, texts: list[bytes], columns: Columns) -> None:
        read = sonic_values.flags(texts) if self.flags else sonic_values.numbers(texts)
        if not self.flags and len(read) and np.nanmax(read, initial=0.0) >= MOST:
            large = np.flatnonzero(read >= MOST).tolist()
            impossible = [n for n in large if not _fits(texts[n])]
            read[impossible] = np.nan
        unread = np.flatnonzero(np.isnan(read))
        if len(unread):
            self._refuse(whole, texts, unread, columns)
        values = read * whole.worth
        if not whole.plain:
            values = np.bincount(whole.places, values, len(whole.series)).astype(np.float64)
            _shape(values, whole.forms)
        known = np.isfinite(values)
        if known.all():
            columns.put_all(whole.series, values)
        else:
            columns.put_all(whole.series[known], values[known])

    def _refuse(
        self, whole: _Whole, texts: list[bytes], unread: NDArray[np.intp], columns: Columns
    ) -> None:
        """Refuse texts that are no number and do not say "not measured" either."""
        for place in unread.tolist():
            text = texts[place]
            cell = whole.places[place]
            computed = whole.forms[cell] in {Form.COMPUTED, Form.DARK}
            if sonic_values.is_absent(text) or (computed and sonic_values.is_undefined(text)):
                continue
            series = int(whole.series[cell])
            metric = self.table.metric(series)
            labels = dict(zip(metric.labels, self.table.labels(series), strict=True))
            shown = text[:60].decode("utf-8", "replace")
            columns.refuse(Reason.MALFORMED, str(metric), labels, shown)


def _fits(text: bytes) -> bool:
    """Return whether a text is the largest count of 64 bit, which as a float is one more."""
    return text.isdigit() and int(text[:21]) < 1 << 64


def _picker(wanted: list[int]) -> Callable[[Hash], tuple[bytes, ...]] | None:
    """Return what takes the values at these places out of a hash; None for none."""
    if not wanted:
        return None
    if len(wanted) == 1:
        (place,) = wanted
        return lambda raw: (raw[place],)
    return itemgetter(*wanted)


def _formed(raw: Hash, context: Context, learn: Learn) -> _Form:
    names = raw[0 : len(raw) // 2 * 2 : 2]
    at = {name.decode("utf-8", "replace"): 2 * n + 1 for n, name in enumerate(names)}
    cells = tuple(learn(context, at.keys()))
    wanted = [at[name] for cell in cells for name in cell.names]
    return _Form(
        cells,
        _picker(wanted),
        len(wanted),
        np.array([n for n, cell in enumerate(cells) for _ in cell.names], np.intp),
        np.array([cell.worth for cell in cells for _ in cell.names], np.float64),
        np.array([cell.form for cell in cells], np.int8),
    )


def _joined(rows: list[_Row]) -> _Whole:
    texts = np.array([row.form.texts for row in rows], np.intp)
    cells = np.array([len(row.series) for row in rows], np.intp)
    shift = np.repeat(np.cumsum(cells) - cells, texts)
    forms = np.concatenate([row.form.forms for row in rows])
    places = np.concatenate([row.form.places for row in rows]) + shift
    plain = len(places) == len(forms) and not forms.any()
    return _Whole(
        rows,
        np.concatenate([row.series for row in rows]),
        places,
        np.concatenate([row.form.worth for row in rows]),
        forms,
        plain,
    )


def _shape(values: Floats, forms: NDArray[np.int8]) -> None:
    """Give levels their floor, turn levels into darkness, and drop what was not computed."""
    light = forms == Form.LIGHT
    values[light] = np.maximum(values[light], DARK_DBM)  # NaN stays NaN
    dark = forms == Form.DARK
    levels = values[dark]
    values[dark] = np.where(np.isnan(levels) | (levels == np.inf), np.nan, levels < DARK_DBM + TINY)
    computed = forms == Form.COMPUTED
    values[computed & (values < 0)] = np.nan
