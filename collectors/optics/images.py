"""Images of modules' memory in files: binary, hex dumps of several tools, JSON by page.

A binary image is linear (byte b of page p at 128 p + b; of an SFP, A2h behind the 256 bytes of
A0h). A hex dump is what `ethtool -m eth0 hex on`, `sfputil show eeprom-hexdump`, `xxd`, `hexdump
-C` print, or bare hex; headings that name a page say where it lies. JSON is `{"lower": hex,
"pages": {"11": hex, "1:11": hex}}` or `{"a0": hex, "a2": hex}`.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from collectors.captures import content
from collectors.optics import hexdump
from collectors.optics.reading import from_image
from collectors.protocols.module import DIAGNOSTICS, HALF, Memory
from fabrichealth.errors import MalformedReply

MOST_BYTES = 1 << 20
"""A file beyond this size is no image: 256 pages of 4 banks are 128 KiB, more as text."""
_PAGE = re.compile(r"(?:[0-9a-f]:)?[0-9a-f]{2}")


def read(file: Path) -> Memory:
    """Return the memory in a file.

    Raises:
        MalformedReply: it is no image, or cannot be read.
    """
    try:
        held = content(file, MOST_BYTES)
    except OSError as wrong:
        raise MalformedReply(f"cannot be read ({wrong.strerror})") from None
    return parsed(held)


def parsed(held: bytes) -> Memory:
    """Return the memory that a file holds, whatever its form.

    Raises:
        MalformedReply: it is no image.
    """
    try:
        text = held.decode("ascii")
    except UnicodeDecodeError:
        return from_image(held)
    if not text.strip() or any(ord(one) < 32 and one not in "\t\r\n\f" for one in text):
        return from_image(held)
    return _json(text) if text.lstrip().startswith("{") else _dump(text)


def _json(text: str) -> Memory:
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise MalformedReply(f"not JSON: {str(wrong)[:80]}") from None
    if "a0" in plain:
        first = _octets(plain, "a0")
        pages = {"00": first[HALF:]} if len(first) > HALF else {}
        if "a2" in plain:
            pages[DIAGNOSTICS] = _octets(plain, "a2")[:HALF]
        return Memory(first[:HALF], pages)
    if "lower" not in plain:
        raise MalformedReply("JSON without `lower` and `pages`, or `a0` and `a2`: no image")
    pages = plain.get("pages", {})
    if not isinstance(pages, Mapping):
        raise MalformedReply("`pages` is no map of page to hex")
    for name in pages:
        if not _PAGE.fullmatch(str(name).lower()):
            raise MalformedReply(f"page {str(name)[:20]!r} is no page such as 11 or 1:11")
    lower = _octets(plain, "lower")
    found = {str(name).lower().removeprefix("0:"): _octets(pages, name) for name in pages}
    if len(lower) == 2 * HALF and "00" not in found:
        found["00"] = lower[HALF:]
    return Memory(lower[:HALF], found)


def _octets(plain: Mapping[str, Any], name: str) -> bytes:
    said = plain[name]
    try:
        return bytes.fromhex(said)
    except (TypeError, ValueError):
        raise MalformedReply(f"`{name}` is not hexadecimal") from None


def _dump(text: str) -> Memory:
    """Return the memory of a hex dump; without headings it is a linear image."""
    halves = hexdump.sections(text)
    if not halves:
        raise MalformedReply("neither an image of a module nor a hex dump of one")
    if set(halves) == {""}:
        return from_image(halves[""])
    if "a0" in halves:
        first, second = halves["a0"], halves.get("a2", b"")
        pages = {"00": first[HALF:]} if len(first) > HALF else {}
        return Memory(first[:HALF], pages | ({DIAGNOSTICS: second[:HALF]} if second else {}))
    lower = halves.pop("lower", halves.pop("", b""))
    if len(lower) == 2 * HALF:
        halves.setdefault("00", lower[HALF:])
    return Memory(lower[:HALF], halves)
