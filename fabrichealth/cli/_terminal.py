"""What commands print: text for people, JSON lines for programs."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import orjson

Away = Callable[[], AbstractContextManager[None]]

_bars: list[Away] = []
"""What has to leave the terminal while a line is printed: a progress bar, or nothing."""


@contextmanager
def giving_way(away: Away) -> Iterator[None]:
    """Have every line printed meanwhile be printed within `away()`, which clears the terminal."""
    _bars.append(away)
    try:
        yield
    finally:
        _bars.remove(away)


def _alone() -> AbstractContextManager[None]:
    return _bars[-1]() if _bars else nullcontext()


def say(text: str) -> None:
    """Print text for a person."""
    with _alone():
        sys.stdout.write(shown(text) + "\n")
        sys.stdout.flush()


def warn(text: str) -> None:
    """Print a line on stderr."""
    with _alone():
        sys.stderr.write(f"fabrichealth: {shown(text)}\n")


def shown(text: str) -> str:
    """Return text without what would act on a terminal: words of a device may hold anything."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in "\n\t" else "\ufffd" for one in text)


def cell(text: str) -> str:
    """Return text for one line of a table: as `shown`, and without line breaks and tabs."""
    return shown(text).translate({9: " ", 10: " "})


def tell(plain: dict[str, Any]) -> None:
    """Print one JSON object on a line of its own."""
    options = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
    try:
        line = orjson.dumps(plain, default=str, option=options)
    except orjson.JSONEncodeError:
        line = orjson.dumps(_whole(plain), default=lambda one: _whole(str(one)), option=options)
    with _alone():
        sys.stdout.write(line.decode() + "\n")
        if _bars:
            sys.stdout.flush()


def _whole(value: Any) -> Any:
    """Return a value of JSON without halves of characters: names on disk need not be UTF-8."""
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in value)
    if isinstance(value, Mapping):
        return {_whole(key): _whole(one) for key, one in value.items()}
    return [_whole(one) for one in value] if isinstance(value, list | tuple) else value
