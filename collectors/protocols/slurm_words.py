"""Slurm's words: lists of hosts, counts of generic resources, numbers that may be objects.

(slurm.conf and gres.conf manuals; src/common/hostlist.c for the grammar of `r[1-2]n[01-04,9]`.)
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

from fabrichealth.errors import MalformedReply

MOST_HOSTS = 100_000
"""Hosts of one list; more are no cluster's, but a list that somebody spoiled."""

_GRES = re.compile(
    r"(?:gres[:/])?(?P<kind>[^:=()]+)(?P<fields>(?:[:=](?:\(null\)|[^:=()]+))*)"
    r"(?P<more>(?:\([^()]*\))*)"
)
_KIND = re.compile(r"(?:gres[:/])?([^:=()]+)")
_COUNT = re.compile(r"(\d{1,9})([kmgtp]?)", re.IGNORECASE)
_SUFFIXES = " kmgtp"
_SLICE = re.compile(r"(?:.*[_-])?\d+g\.\d+gb.*", re.IGNORECASE)
_SHARES = re.compile(r"\((\d+/\d+(?:,\d+/\d+)*)\)")
_NONE = frozenset({"N/A", "(null)", "None"})
SHARD = "shard"
"""Slurm's name for parts of accelerators that several jobs may have at once."""
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")


@dataclass(frozen=True, slots=True)
class Gres:
    """Accelerators of one host: how many, and by their indices where those are told."""

    count: int
    indices: tuple[int, ...] | None = None


def hosts(text: str) -> list[str]:
    """Return the hosts of a list such as `r[1-2]n[01-04],login`, in its order.

    Raises:
        MalformedReply: brackets or ranges that do not close, or more hosts than any cluster has.
    """
    found: list[str] = []
    for word in _outside(text, "[", "]"):
        if word:
            found += _expanded(word, MOST_HOSTS - len(found))
    return found


@lru_cache(maxsize=4096)  # alike hosts and jobs say the same words
def gres(text: str, kinds: tuple[str, ...]) -> Gres | None:
    """Return what a list of generic resources holds of some kinds; None where it is not told.

    `gpu:h100:8(S:0-1)`, `gpu:(null):4(IDX:0-1,4-5)`, `gres/gpu=64`; an empty list holds none.
    Resources of other kinds may say what they like (`bandwidth:lustre:no_consume:4G`). Slices of
    accelerators (`gpu:1g.10gb:7`) are no whole ones: a list that has nothing else tells nothing.

    Raises:
        MalformedReply: a word of the list is no resource, or an index range is none.
    """
    if text.strip() in _NONE:
        return None
    total, indices, whole, sliced = 0, set[int](), True, False
    for word in _outside(text, "(", ")"):
        kind = _KIND.match(word)
        if kind is None or kind[1] not in kinds:
            continue
        match = _GRES.fullmatch(word)
        if match is None:
            raise MalformedReply(f"no generic resource: {word[:60]!r}")
        *types, last = re.findall(r"[:=](\(null\)|[^:=()]+)", match["fields"]) or [""]
        counted = _counted(last)
        if any(_SLICE.fullmatch(one) for one in (*types, *([last] if counted is None else []))):
            sliced = True
            continue
        count = 1 if counted is None else counted
        if count > MOST_HOSTS:
            raise MalformedReply(f"more accelerators than there are: {word[:60]!r}")
        total += count
        told = match["more"].partition("IDX:")[2].partition(")")[0]
        here = set(numbers(told)) if told and told not in {"N/A", "-"} else set()
        if len(here) == count:
            indices |= here
        else:
            whole = whole and count == 0
    if sliced and not total:
        return None
    known = whole and len(indices) == total
    return Gres(total, tuple(sorted(indices)) if known else None)


def shared(text: str) -> frozenset[int] | None:
    """Return the accelerators of which jobs hold shards, by index; None: some, not told which.

    `shard:h100:8(8/8,0/8)` says how many of each accelerator's shards are in use.
    """
    found = set[int]()
    for word in _outside(text, "(", ")"):
        match = _GRES.fullmatch(word)
        if match is None or match["kind"] != SHARD:
            continue
        last = re.split("[:=]", match["fields"])[-1]
        shares = _SHARES.search(match["more"])
        if shares is not None:
            parts = shares[1].split(",")
            found |= {n for n, part in enumerate(parts) if int(part.partition("/")[0])}
        elif _counted(last) != 0:
            return None
    return frozenset(found)


def tres(text: str, kinds: Collection[str]) -> int | None:
    """Return how many accelerators a list of trackable resources holds; 0 where it names none.

    `cpu=8,gres/gpu=64,gres/gpu:h100=64` says the same accelerators twice; slices of accelerators
    among them (`gres/gpu:1g.10gb=3`) are no whole ones. None for no list.
    """
    if not text.strip():
        return None
    plain, typed, sliced = 0, 0, 0
    for word in text.split(","):
        name, _, many = word.strip().partition("=")
        kind, _, model = name.removeprefix("gres/").partition(":")
        count = _counted(many)
        if not name.startswith("gres/") or kind not in kinds or count is None:
            continue
        if not model:
            plain += count
        elif _SLICE.fullmatch(model):
            sliced += count
        else:
            typed += count
    return max(plain - sliced, 0) if plain else typed


def _counted(text: str) -> int | None:
    """Return a count that may have a suffix, by 1024 (`4G`); None for a word that is none."""
    match = _COUNT.fullmatch(text)
    if match is None:
        return None
    return int(match[1]) << 10 * (_SUFFIXES.index(match[2].lower()) if match[2] else 0)


def numbers(text: str) -> Iterator[int]:
    """Yield the numbers of `0-3,7`, `1-10:2%4` (steps; what follows % is no number).

    Raises:
        MalformedReply: no list of ranges, or one without end.
    """
    room = MOST_HOSTS
    for word in text.partition("%")[0].split(","):
        found = _RANGE.fullmatch(word.strip())
        if found is None:
            raise MalformedReply(f"no range of numbers: {word[:40]!r}")
        first, last = int(found[1]), int(found[2] or found[1])
        several = range(first, last + 1, max(int(found[3] or 1), 1))
        room -= len(several)
        if room < 0:
            raise MalformedReply(f"a range without end: {word[:40]!r}")
        yield from several


def number(plain: Any) -> int | None:
    """Return a number that may be an object `{set, infinite, number}`; None where it has none."""
    if isinstance(plain, dict):
        if plain.get("set") is False or plain.get("infinite") is True:
            return None
        plain = plain.get("number")
    if isinstance(plain, bool) or not isinstance(plain, int):
        return None
    return plain if 0 <= plain < 1 << 53 else None


def words(plain: Any) -> tuple[str, ...]:
    """Return what is one word, or words joined by commas, or a list of words, as words."""
    listed = (
        plain if isinstance(plain, list) else plain.split(",") if isinstance(plain, str) else ()
    )
    return tuple(one.strip() for one in listed if isinstance(one, str) and one.strip())


def _outside(text: str, opens: str, closes: str) -> Iterator[str]:
    """Yield the parts of a list between commas that stand in no bracket."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter == opens) - (letter == closes)
        if letter == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def _expanded(word: str, room: int) -> list[str]:
    pieces: list[list[str]] = []
    many = 1
    for place, part in enumerate(re.split(r"\[([^\[\]]*)\]", word)):
        if place % 2 == 0:
            if "[" in part or "]" in part:
                raise MalformedReply(f"a bracket does not close: {word[:60]!r}")
            pieces.append([part])
            continue
        choices: list[str] = []
        for each in part.split(","):
            first = each.partition("-")[0].strip()
            choices += [str(one).rjust(len(first), "0") for one in numbers(each)]
        many *= len(choices)
        if many > room:
            raise MalformedReply(f"a list of hosts without end: {word[:60]!r}")
        pieces.append(choices)
    return ["".join(one) for one in product(*pieces)]
