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
    r"(?:gres[:/])?(?P<kind>[A-Za-z_]\w*)(?::(?P<type>[^:=()]+))??(?:[:=](?P<count>\d{1,9}))?"
    r"(?:\((?P<more>[^()]*)\))?"
)
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

    `gpu:h100:8(S:0-1)`, `gpu:4(IDX:0-1,4-5)`, `gres/gpu=64`; an empty list holds none.

    Raises:
        MalformedReply: a word of the list is no resource, or an index range is none.
    """
    if text.strip() in {"N/A", "(null)", "None"}:
        return None
    total, indices, whole = 0, set[int](), True
    for word in _outside(text, "(", ")"):
        if not word:
            continue
        match = _GRES.fullmatch(word)
        if match is None:
            raise MalformedReply(f"no generic resource: {word[:60]!r}")
        if match["kind"] not in kinds:
            continue
        count = int(match["count"]) if match["count"] else 1
        total += count
        more = match["more"] or ""
        told = more.partition("IDX:")[2] if "IDX:" in more else ""
        here = set(numbers(told)) if told and told not in {"N/A", "-"} else set()
        if len(here) == count:
            indices |= here
        else:
            whole = whole and count == 0
    known = whole and len(indices) == total
    return Gres(total, tuple(sorted(indices)) if known else None)


def tres(text: str, kinds: Collection[str]) -> int | None:
    """Return how many accelerators a list of trackable resources holds; 0 where it names none.

    `cpu=8,gres/gpu=64,gres/gpu:h100=64` says the same accelerators twice. None for no list.
    """
    if not text.strip():
        return None
    plain, typed = 0, 0
    for word in text.split(","):
        name, _, count = word.strip().partition("=")
        kind, _, model = name.removeprefix("gres/").partition(":")
        if name.startswith("gres/") and kind in kinds and re.fullmatch(r"\d{1,9}", count):
            plain, typed = (plain, typed + int(count)) if model else (plain + int(count), typed)
    return plain or typed


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
