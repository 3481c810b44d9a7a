"""Where each value of a module comes from: page, bytes, raw number and specification."""

from collections.abc import Iterable, Iterator
from math import isnan

from collectors.optics.seen import SeenModule, seen
from collectors.optics.wording import table, told
from collectors.protocols.module import Memory


def lines(module: SeenModule) -> Iterator[str]:
    """Yield a line for each value."""
    rows = []
    for one in module.values:
        raw = one.raw.hex(" ") if isinstance(one.raw, bytes) else str(one.raw)
        lane = f"lane {one.cell.lane}" if one.cell.lane else ""
        row = one.cell.field
        rows.append([row.name, lane, told(one), one.cell.place, f"raw {raw}"[:24], row.spec])
    yield from table(rows)


def objects(modules: Iterable[tuple[str, Memory]]) -> Iterator[dict[str, object]]:
    """Yield every value of modules with where it comes from, as plain JSON objects."""
    for port, memory in modules:
        for one in seen(memory).values:
            row = one.cell.field
            is_none = isinstance(one.value, float) and isnan(one.value)
            yield {
                "port": port,
                "field": row.name,
                "lane": one.cell.lane or None,
                "value": None if is_none else one.value,
                "unit": row.unit,
                "raw": one.raw.hex() if isinstance(one.raw, bytes) else one.raw,
                "at": one.cell.place,
                "specification": row.spec,
                "says": row.says,
                "why_absent": one.why,
            }
