"""Counters made from gauges that show the last error code (DCGM's Xid, the NPU's error codes).

Such a gauge says that something happened when it changes, and nothing while it stays: a second
equal error cannot be seen, and none is claimed. What it shows at the first contact is old. Each
code in the map's table has a counter that starts at 0; each code that appears adds one, and is
one `device_log` event. What was counted survives restarts if `memory` is kept.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from collectors.maps.page_places import Place
from collectors.maps.page_rules import Codes
from fabrichealth.events import Event
from fabrichealth.metric import Metric
from fabrichealth.model import Labels

Reading = tuple[Metric, Labels, float]
"""A counter: metric, labels, value."""


@dataclass(slots=True)
class _Device:
    """What is known of one device: the codes shown last, and how often each appeared."""

    shown: set[int]
    counts: dict[int, int] = field(default_factory=dict)


class LastCodes:
    """The codes of all devices of one target."""

    def __init__(self) -> None:
        self._devices: dict[tuple[str, str], _Device] = {}

    def seen(
        self, place: Place, shown: Iterable[int], at: float, *, whole: bool
    ) -> tuple[list[Reading], list[Event]]:
        """Return counters and events of one device that now shows these codes.

        `whole` is False where one of its gauges could not be read: then codes shown before are
        taken to be there still.
        """
        codes, metric = place.rule.codes, place.metric
        if codes is None or metric is None or place.labels is None:
            return [], []
        now = set(shown) - set(codes.none)
        key = (place.rule.names[0], place.device)
        device = self._devices.get(key)
        new: set[int] = set()
        if device is None:
            device = self._devices[key] = _Device(now)
        else:
            new = now - device.shown
            device.shown = now if whole else now | device.shown
        for code in codes.known:
            device.counts.setdefault(code, 0)
        for code in new:
            device.counts[code] = device.counts.get(code, 0) + 1
        where = metric.labels.index("code")
        readings = [
            (
                metric,
                (*place.labels[:where], codes.name.format(code), *place.labels[where + 1 :]),
                float(count),
            )
            for code, count in device.counts.items()
        ]
        return readings, [_event(place.device, codes, code, at) for code in sorted(new)]

    def memory(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "codes": [
                {
                    "gauge": gauge,
                    "device": device,
                    "shown": sorted(known.shown),
                    "counts": [list(pair) for pair in known.counts.items()],
                }
                for (gauge, device), known in self._devices.items()
            ]
        }

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up what `memory` returned; rows that cannot be read are left out."""
        rows = memory.get("codes")
        for row in rows if isinstance(rows, list) else []:
            try:
                key = (str(row["gauge"]), str(row["device"]))
                counts = {int(code): int(count) for code, count in row["counts"]}
                known = _Device({int(code) for code in row["shown"]}, counts)
            except (KeyError, TypeError, ValueError):
                continue
            self._devices[key] = known


def _event(device: str, codes: Codes, code: int, at: float) -> Event:
    name = codes.name.format(code)
    text = f"{device} now shows {name} as its last error"
    return Event(at, "device_log", {"device": device}, more={"code": name, "text": text})
