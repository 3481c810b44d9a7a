"""How a SONiC switch is configured to mark, to pause, and to share its buffer.

Marking decides at what depth of a queue senders are told to slow down; the priority group's profile
when they are stopped. CONFIG_DB has what was written, APPL_DB what is applied (a switch may compute
profiles itself), which wins. Ranges in keys (`3-4`) stand for each priority of them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from collectors.maps.columns import Columns
from collectors.protocols import sonic_values
from collectors.sonic.asking import Hashes, Keys, Part, hashes, keys
from fabrichealth.catalogue.congestion import (
    BUFFER_ALPHA,
    BUFFER_POOL,
    ECN_THRESHOLD,
    PFC_XOFF_THRESHOLD,
)
from fabrichealth.metric import Metric
from fabrichealth.model import Reason, SeriesTable

METRICS = (ECN_THRESHOLD, PFC_XOFF_THRESHOLD, BUFFER_POOL, BUFFER_ALPHA)

TABLES = ("BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "QUEUE", "WRED_PROFILE", "PORT_QOS_MAP")
LOSSLESS_POOL = "ingress_lossless_pool"
GREEN = {"ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red"}
"""Settings of a WRED profile that mark ordinary (green) packets."""
BOUNDS = {"min": "green_min_threshold", "max": "green_max_threshold"}
_RANGE = re.compile(r"([0-7])(?:-([0-7]))?")

Rows = Mapping[str, Mapping[str, str]]
"""Rows of one table: key without its table -> fields."""


@dataclass(slots=True)
class Buffers:
    """Reads the configuration of one namespace."""

    table: SeriesTable
    device: str
    lossless: dict[str, frozenset[str]] = field(default_factory=dict)
    """The priorities of each port that have PFC, where the configuration says."""

    def read(self, columns: Columns) -> Part:
        """Read configured thresholds, and which priorities are lossless."""
        tables: dict[str, dict[str, dict[str, str]]] = {name: {} for name in TABLES}
        for database, separator, ending in (("CONFIG_DB", "|", ""), ("APPL_DB", ":", "_TABLE")):
            wanted: list[tuple[str, str, str]] = []
            for stem in ("BUFFER_*",) if ending else ("BUFFER_*", "QUEUE|*", "WRED_*", "PORT_QOS*"):
                for key in keys((yield Keys(database, stem))):
                    name, _, rest = key.partition(separator)
                    name = name.removesuffix(ending)
                    if name in tables and rest:
                        wanted.append((name, rest.replace(":", "|"), key))
            asked = tuple(key for _, _, key in wanted)
            if asked:
                answer = hashes((yield Hashes(database, asked)))
                for (name, row, _), raw in zip(wanted, answer, strict=True):
                    if raw:
                        tables[name][row] = sonic_values.words(raw)
        self.lossless = dict(_lossless(tables["PORT_QOS_MAP"]))
        self._thresholds(tables, columns)

    def _thresholds(self, tables: Mapping[str, Rows], columns: Columns) -> None:
        pool = tables["BUFFER_POOL"].get(LOSSLESS_POOL, {})
        self._take(columns, BUFFER_POOL, (), pool, "size")
        for port, priority, row in _priorities(tables["BUFFER_PG"]):
            profile = _profile(tables["BUFFER_PROFILE"], row.get("profile", ""))
            self._take(columns, PFC_XOFF_THRESHOLD, (port, priority), profile, "xoff")
            exponent = _whole(profile.get("dynamic_th", ""))
            if exponent is not None and -10 <= exponent <= 10:  # alpha is a power of two
                columns.take(BUFFER_ALPHA, (self.device, port, priority), 2.0**exponent)
            elif "dynamic_th" in profile:
                self._refuse(columns, BUFFER_ALPHA, (port, priority), profile["dynamic_th"])
        for port, priority, row in _priorities(tables["QUEUE"]):
            profile = _profile(tables["WRED_PROFILE"], row.get("wred_profile", ""))
            if profile.get("ecn", "") not in GREEN:
                continue
            for bound, name in BOUNDS.items():
                self._take(columns, ECN_THRESHOLD, (port, priority, bound), profile, name)

    def _take(
        self,
        columns: Columns,
        metric: Metric,
        labels: tuple[str, ...],
        row: Mapping[str, str],
        name: str,
    ) -> None:
        if name not in row:
            return
        value = _whole(row[name])
        if value is None:
            self._refuse(columns, metric, labels, row[name])
        else:
            columns.take(metric, (self.device, *labels), float(value))

    def _refuse(self, columns: Columns, metric: Metric, labels: tuple[str, ...], text: str) -> None:
        named = dict(zip(metric.labels, (self.device, *labels), strict=True))
        columns.refuse(Reason.MALFORMED, str(metric), named, text[:60])


def _lossless(rows: Rows) -> Iterator[tuple[str, frozenset[str]]]:
    for port, row in rows.items():
        enabled = row.get("pfc_enable")
        if enabled is not None:
            yield port, frozenset(word.strip() for word in enabled.split(","))


def _priorities(rows: Rows) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Yield (port, priority, row) of keys such as `Ethernet0,Ethernet4|3-4`."""
    for key, row in rows.items():
        ports, _, span = key.rpartition("|")
        found = _RANGE.fullmatch(span)
        if not found:
            continue
        for port in ports.rpartition("|")[2].split(","):
            for priority in range(int(found[1]), int(found[2] or found[1]) + 1):
                yield port, str(priority), row


def _profile(rows: Rows, name: str) -> Mapping[str, str]:
    """Return a profile by its name, which older releases write as `[TABLE|name]`."""
    return rows.get(re.split(r"[|:]", name.strip("[]"))[-1], {})


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?[0-9]{1,15}", text) else None
