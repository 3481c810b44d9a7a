"""What commands print: text for people, JSON lines for programs."""

import sys
from collections.abc import Mapping
from typing import Any

import orjson


def say(text: str) -> None:
    """Print text for a person."""
    sys.stdout.write(_shown(text) + "\n")
    sys.stdout.flush()


def warn(text: str) -> None:
    """Print a line on stderr."""
    sys.stderr.write(f"fabrichealth: {_shown(text)}\n")


def _shown(text: str) -> str:
    """Return text without what would act on a terminal: words of a device may hold anything."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in "\n\t" else "\ufffd" for one in text)


def tell(plain: dict[str, Any]) -> None:
    """Print one JSON object on a line of its own."""
    options = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
    try:
        line = orjson.dumps(plain, default=str, option=options)
    except orjson.JSONEncodeError:
        line = orjson.dumps(_whole(plain), default=lambda one: _whole(str(one)), option=options)
    sys.stdout.write(line.decode() + "\n")


def _whole(value: Any) -> Any:
    """Return a value of JSON without halves of characters: names on disk need not be UTF-8."""
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in value)
    if isinstance(value, Mapping):
        return {_whole(key): _whole(one) for key, one in value.items()}
    return [_whole(one) for one in value] if isinstance(value, list | tuple) else value
