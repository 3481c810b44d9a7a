"""Results kept case by case, so that a long run can be cut short, shared out, and go on.

A result is a JSON file of its own, written whole or not at all. It belongs to the sources that
gave it: once the analyzer or the benchmarks change, it is worked out again.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from analyzer.scoring import Matched, Met, Told, Truth
from fabrichealth.cli._corpus import Judged
from fabrichealth.kinds import Severity

ROOMS = ("analyzer", "benchmarks/corpus", "fabrichealth/model", "fabrichealth/store",
         "fabrichealth/topology", "fabrichealth/catalogue")  # fmt: skip
FILES = ("fabrichealth/kinds.py", "benchmarks/layers.py", "benchmarks/quiet_fleet.py")
LISTS = ("false", "second", "apart", "suppressed", "joined")
HOUSE = Path(__file__).resolve().parent.parent


@cache
def sources() -> str:
    """Return a digest of everything that a verdict on the corpus depends on."""
    digest = hashlib.sha256()
    every = [path for room in ROOMS for path in sorted((HOUSE / room).rglob("*.py"))]
    for path in (*every, *(HOUSE / name for name in FILES)):
        digest.update(str(path.relative_to(HOUSE)).encode() + b"\0")
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Keeper:
    """A folder of results; with no folder nothing is kept and nothing is found."""

    folder: Path | None
    any_sources: bool = False
    """Take what other sources gave, too: to print it, not to go on from it."""

    def find(self, name: str) -> Any:
        """Return the result of a name, None if there is none of these sources."""
        if self.folder is None:
            return None
        try:
            plain = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not there, or cut short: worked out again
            return None
        same = isinstance(plain, dict) and plain.get("sources") == sources()
        return plain["result"] if same or (self.any_sources and "result" in plain) else None

    def keep(self, name: str, result: Any) -> None:
        """Write the result of a name."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.folder / f"{name}.draft-{os.getpid()}"
        draft.write_text(json.dumps({"sources": sources(), "result": result}), encoding="utf-8")
        draft.replace(self.folder / f"{name}.json")

    def states(self, pattern: str = "*") -> set[str]:
        """Return the digests of the sources that gave what is kept under such names."""
        found = set()
        for path in () if self.folder is None else self.folder.glob(f"{pattern}.json"):
            plain = json.loads(path.read_text(encoding="utf-8"))
            found.add(str(plain.get("sources")))
        return found

    def names(self, start: str = "") -> Iterator[str]:
        """Yield the names that are kept and begin so, in order."""
        if self.folder is not None:
            yield from sorted(path.stem for path in self.folder.glob(f"{start}*.json"))


def shard(text: str) -> tuple[int, int]:
    """Read `i/n`, i from 1 to n.

    Raises:
        ValueError: it is no such thing.
    """
    number, slash, of = text.partition("/")
    if not (slash and number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise ValueError(f"--shard {text}: write i/n with i from 1 to n")
    return int(number), int(of)


def to_json(judged: Judged) -> dict[str, Any]:
    """Return a judged corpus as JSON; times that never come are null."""
    matched = judged.matched
    return {
        "name": judged.name, "links": judged.links, "seconds": judged.seconds,
        "passes": judged.passes,
        "met": [[asdict(one.truth), _told(one.told)] for one in matched.met],
        **{
            name: [_told(one) for one in getattr(matched, name)]
            for name in LISTS
        },
    }  # fmt: skip


def of_json(plain: dict[str, Any]) -> Judged:
    """Read a judged corpus back."""
    rest = {
        name: [told for one in plain[name] if (told := _to_told(one)) is not None] for name in LISTS
    }
    met = [Met(_to_truth(truth), _to_told(told)) for truth, told in plain["met"]]
    matched = Matched(met=met, **rest)
    return Judged(plain["name"], matched, plain["links"], plain["seconds"], plain["passes"])


def _told(one: Told | None) -> dict[str, Any] | None:
    if one is None:
        return None
    plain = {**asdict(one), "severity": int(one.severity)}
    return {**plain, "closed": None if one.closed == float("inf") else one.closed}


def _to_told(plain: dict[str, Any] | None) -> Told | None:
    if plain is None:
        return None
    fields = {
        **plain,
        "severity": Severity(plain["severity"]),
        "closed": float("inf") if plain["closed"] is None else plain["closed"],
        "victims": tuple(plain["victims"]),
        "causes": tuple((cause, share) for cause, share in plain["causes"]),
    }
    return Told(**fields)


def _to_truth(plain: dict[str, Any]) -> Truth:
    lists = {name: tuple(plain[name]) for name in ("also_kinds", "also", "victims")}
    return Truth(**{**plain, **lists})
