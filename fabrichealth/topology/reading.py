"""Reading a topology file, and the CSV files beside it for the long lists.

Wrong cabling in the file is an error that names the line; what cannot be checked here (does the
cable really lie so) the analyzer checks on data.
"""

import csv
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabrichealth.errors import SiteError
from fabrichealth.topology.contradictions import Written, contradictions
from fabrichealth.topology.inventory import Topology
from fabrichealth.topology.rows import Device, Link, Row
from fabrichealth.yamlfile import YamlFile, load

log = logging.getLogger(__name__)


def read(path: Path) -> Topology:
    """Read a topology file, and the CSV files that it names.

    Keys that no row knows are skipped, for newer files, and counted in one warning.

    Raises:
        SiteError: file, line and key of the first thing that is wrong.
    """
    file = load(path)
    if not isinstance(file.value, Mapping):
        raise SiteError(f"{path}:1: a topology is a mapping with devices: and links:")
    value = dict(file.value)
    tables: dict[str, _Table] = {}
    for key, model in (("devices", Device), ("links", Link)):
        if isinstance(value.get(key), str):
            tables[key] = _table(path.parent / value[key], model)
            value[key] = tables[key].rows
    parsed = file.validated(Written, value)
    for key, index, what in contradictions(parsed):
        if key in tables:
            raise SiteError(f"{tables[key].path}:{tables[key].lines[index]}: {what}")
        raise file.error((key, index), what)
    _warn_of_unknown(path, parsed)
    return Topology(
        parsed.devices, parsed.links, parsed.domains, parsed.racks,
        parsed.loops, parsed.feeds, parsed.routing,
    )  # fmt: skip


def _warn_of_unknown(path: Path, parsed: Written) -> None:
    """Say once which keys were skipped, and how often each stands there."""
    unknown: Counter[str] = Counter(list(parsed.model_extra or ()))
    for key in Written.model_fields:
        for row in getattr(parsed, key):
            unknown.update(f"{key}[].{name}" for name in row.model_extra)
    if unknown:
        told = ", ".join(f"{name} ({count})" for name, count in unknown.most_common(8))
        log.warning("%s: unknown keys skipped: %s", path, told)


@dataclass(frozen=True)
class _Table:
    """A CSV file: its rows, dotted columns nested, and the line of each."""

    path: Path
    rows: list[dict[str, Any]]
    lines: list[int]


def _table(path: Path, model: type[Row]) -> _Table:
    table = _Table(path, [], [])
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:  # spreadsheets write a mark
            reader = csv.DictReader(handle, strict=True)
            columns = list(reader.fieldnames or ())
            for column in columns:
                if columns.count(column) > 1:
                    raise SiteError(f"{path}:1: column {column} is there twice; keep one")
                if any(other.startswith(f"{column}.") for other in columns):
                    raise SiteError(f"{path}:1: column {column} cannot stand beside {column}.*")
            for row in reader:
                if None in row:
                    raise SiteError(f"{path}:{reader.line_num}: more fields than the header has")
                table.rows.append(_nested(row))
                table.lines.append(reader.line_num)
    except UnicodeDecodeError:
        raise SiteError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except OSError as wrong:
        raise SiteError(f"{path}: cannot be read ({wrong.strerror}); check the path") from None
    except csv.Error as wrong:
        raise SiteError(f"{path}:{reader.line_num}: not CSV ({wrong}); check quotes") from None
    for plain, line in zip(table.rows, table.lines, strict=True):
        YamlFile(path, plain, {(): line}).validated(model, plain)
    return table


def _nested(row: Mapping[str, str | None]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column, text in row.items():
        if text is None or text == "":
            continue
        *above, last = column.split(".")
        place = found
        for part in above:
            place = place.setdefault(part, {})
        place[last] = text.split(";") if last in {"ids", "racks", "branches", "via"} else text
    return found
