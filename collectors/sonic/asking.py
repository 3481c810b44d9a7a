"""What a visit asks of the databases; whoever does the I/O answers.

A part of a visit is a generator: it yields what it wants to know and is sent the answer. The live
switch and a capture answer the same questions, so that both go through the same decoders.
"""

from collections.abc import Generator
from typing import NamedTuple

from collectors.protocols.sonic_values import Hash


class Keys(NamedTuple):
    """The keys of a database that fit a pattern with one `*` at its end."""

    database: str
    pattern: str


class Hashes(NamedTuple):
    """Whole hashes, in the order of the keys; empty where there is none."""

    database: str
    keys: tuple[str, ...]


Answer = list[str] | list[Hash]
Part = Generator[Keys | Hashes, Answer, None]
"""One part of a visit."""


def hashes(answer: Answer) -> list[Hash]:
    """Return the answer to `Hashes`."""
    return [one for one in answer if isinstance(one, list)]


def keys(answer: Answer) -> list[str]:
    """Return the answer to `Keys`."""
    return [one for one in answer if isinstance(one, str)]


def answered(databases: dict[str, dict[str, Hash]], asked: Keys | Hashes) -> Answer:
    """Answer from the content of databases, by name and key."""
    content = databases.get(asked.database, {})
    if isinstance(asked, Hashes):
        return [content.get(key, []) for key in asked.keys]
    stem = asked.pattern.removesuffix("*")
    return sorted(key for key in content if key.startswith(stem))


def run(part: Part, databases: dict[str, dict[str, Hash]]) -> None:
    """Let a part ask, and answer it from the content of databases."""
    try:
        asked = next(part)
        while True:
            asked = part.send(answered(databases, asked))
    except StopIteration:
        return
