"""What commands print: text for people, JSON lines for programs."""

import sys
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
    sys.stdout.write(orjson.dumps(plain, default=str, option=options).decode() + "\n")
