"""What a module measures, for a person: values, the module's own limits, margins, lanes."""

from collections.abc import Iterator
from math import isnan

from collectors.optics.seen import SeenModule
from collectors.optics.wording import level, limit, number, runs, table, told
from collectors.protocols.module import BOUNDS, Kind
from collectors.protocols.optics.reference import Told

LIGHT = {"rx_power", "tx_power"}
LANE_COLUMNS = ("tx_power", "tx_bias", "rx_power")
LANE_STATES = ("data_path_state", "active_application", "laser_state")


def monitors(seen: SeenModule) -> Iterator[str]:
    """Yield the monitors of the whole module with their limits, and the limits of the lanes."""
    bounds = [f"{bound} {level_}" for bound, level_ in BOUNDS]
    head = ["", "value", *bounds, "margin to the nearest"]
    rows = []
    for one in seen.values:
        item = one.cell.item
        if item and item.kind is Kind.VALUE and not (one.cell.lane or item.lane):
            rows.append(_monitor(one.cell.field.name, one, seen.limits(item.quantity)))
    for quantity in LANE_COLUMNS:
        limits = seen.limits(quantity)
        for one in (*seen.named(quantity)[:1],) if limits else ():
            row = _monitor(f"{quantity} (by lane)", one, limits)
            rows.append([row[0], "see below", *row[2:-1], ""])
    if rows:
        yield from table([head, *rows])


def _monitor(name: str, one: Told, limits: dict[tuple[str, str], float]) -> list[str]:
    unit = one.cell.field.unit
    shown = [limit(limits[at], unit) if at in limits else "none" for at in BOUNDS]
    return [name.replace("_", " "), told(one), *shown, _margin(one, limits)]


def _margin(one: Told, limits: dict[tuple[str, str], float]) -> str:
    """Return how far a value is from the nearest of its limits, warnings before alarms."""
    if not isinstance(one.value, float) or isnan(one.value) or not limits:
        return ""
    item = one.cell.item
    is_light = item is not None and item.quantity in LIGHT
    unit = "dB" if is_light else one.cell.field.unit
    value = level(one.value) if is_light else one.value
    best: tuple[float, str] | None = None
    for (bound, name), edge_value in limits.items():
        edge = level(edge_value) if is_light else edge_value
        room = edge - value if bound == "high" else value - edge
        graver = name == "alarm" and room < 0
        if best is None or (graver, -room) > (best[1].endswith("alarm") and best[0] < 0, -best[0]):
            best = room, f"{bound} {name}"
    if best is None:
        return ""
    away = f"{number(abs(best[0]), unit)} "
    return away + (f"to {best[1]}" if best[0] >= 0 else f"BEYOND {best[1]}")


def lanes(seen: SeenModule) -> Iterator[str]:
    """Yield a line a lane: light, bias, state, and what is beyond its limits."""
    columns = [name for name in (*LANE_COLUMNS, *LANE_STATES) if seen.named(name)]
    by_lane: dict[int, dict[str, Told]] = {}
    for name in columns:
        for one in seen.named(name):
            item = one.cell.item
            lane = one.cell.lane or (item.lane if item else 0)
            if lane:
                by_lane.setdefault(lane, {})[name] = one
    if not by_lane:
        return
    head = ["lane", *(name.replace("_", " ") for name in columns), "margin"]
    rows = []
    for lane, found in sorted(by_lane.items()):
        margins = [
            f"{name} {margin}"
            for name in LANE_COLUMNS
            if name in found and (margin := _margin(found[name], seen.limits(name)))
            and "BEYOND" in margin
        ]  # fmt: skip
        cells = [told(found[name]) if name in found else "" for name in columns]
        rows.append([str(lane), *cells, "; ".join(margins).replace("_", " ")])
    yield from table([head, *rows])


def diagnostics(seen: SeenModule) -> Iterator[str]:
    """Yield a line an observable, of versatile diagnostics, of page 14h and of coherent pages."""
    rows: dict[str, list[Told]] = {}
    for one in seen.values:
        page = one.cell.field.page.rpartition(":")[2]
        is_sample = one.cell.field.name.startswith("vdm_") and page[:1] == "2" and page < "28"
        shown = page in {"14", "34", "35"} and one.cell.field.name != "selector"
        if (is_sample and page >= "24") or shown:
            rows.setdefault(one.cell.field.name, []).append(one)
    for name, values in rows.items():
        words = [told(one) for one in sorted(values, key=lambda one: one.cell.lane)]
        if len(set(words)) == 1:
            words = words[:1]  # all lanes alike: said once
        of_lanes = runs(one.cell.lane for one in values if one.cell.lane)
        where = f" of lanes {of_lanes}" if of_lanes else ""
        page = values[0].cell.page
        said = name.removeprefix("vdm_").replace("_", " ")
        yield f"  {said}{where} ({page}h): {'  '.join(words)}"
