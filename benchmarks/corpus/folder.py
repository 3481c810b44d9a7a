"""Folder: one case on disk, as contract 6 has it."""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import yaml

from benchmarks.corpus.codes import Floats
from benchmarks.corpus.recording import Series

PACKING = 1
"""zlib's level: a corpus is read as often as it is written."""
STEADY = 3600.0
"""Limits and identities are written so often; they hardly ever change."""


@dataclass
class Folder:
    """Writes one corpus; `clocks` gives each device its phase and what its clock is off by."""

    path: Path
    at: Floats
    clocks: Mapping[str, float] = field(default_factory=dict)
    spoil: float = 0.0
    """Share of the lines of which some samples come twice, late and out of order."""
    samples: int = 0

    def write(
        self,
        topology: Mapping[str, Any],
        series: Iterable[Series],
        events: Iterable[Mapping[str, Any]],
        truths: Iterable[Mapping[str, Any]],
    ) -> None:
        """Write topology, history, events, truth and meta."""
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "topology.yaml").write_text(
            yaml.safe_dump(dict(topology), sort_keys=False), encoding="utf-8"
        )
        self._history(series)
        _lines(self.path / "events.jsonl", sorted(events, key=lambda one: one["at"]))
        _lines(self.path / "truth.jsonl", [*truths] or [{"quiet": True}])
        meta = {
            "links": len(topology["links"]), "from": float(self.at[0]),
            "until": float(self.at[-1]), "step": float(np.median(np.diff(self.at))),
            "simulated": True,
        }  # fmt: skip
        (self.path / "meta.json").write_text(json.dumps(meta) + "\n", encoding="utf-8")

    def _history(self, series: Iterable[Series]) -> None:
        chance = np.random.default_rng(len(self.at))
        packed = zlib.compressobj(PACKING, wbits=31)
        with (self.path / "history.jsonl.gz").open("wb") as file:
            for metric, labels, values in series:
                known = np.isfinite(values)
                if metric.name.endswith(("_threshold", "_info")):
                    hour = np.floor((self.at - self.at[0]) / STEADY)
                    known &= first_of(np.where(known, hour, -1.0))
                offset = self.clocks.get(labels.get("device", ""), 0.0)
                at = np.round((self.at[known] + offset) * 1e3).astype(np.int64)
                given = values[known]
                if self.spoil and chance.random() < self.spoil:
                    at, given = _disordered(at, given, chance)
                self.samples += len(at)
                line = {
                    "metric": {"__name__": str(metric), **labels},
                    "values": given, "timestamps": at,
                }  # fmt: skip
                text = orjson.dumps(line, option=orjson.OPT_SERIALIZE_NUMPY)
                file.write(packed.compress(text + b"\n"))
            file.write(packed.flush())


def first_of(groups: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return [k] where each number comes for the first time."""
    found = np.zeros(len(groups), bool)
    found[np.unique(groups, return_index=True)[1]] = True
    return found


def _disordered(
    at: np.ndarray[Any, np.dtype[np.int64]], values: Floats, chance: np.random.Generator
) -> tuple[np.ndarray[Any, np.dtype[np.int64]], Floats]:
    """Return samples of which a fiftieth is written twice and a tenth comes late."""
    twice = np.flatnonzero(chance.random(len(at)) < 0.02)
    order = np.concatenate([np.arange(len(at)), twice])
    order = order[np.argsort(order + chance.integers(0, 20, len(order)), kind="stable")]
    return at[order], values[order]


def _lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
