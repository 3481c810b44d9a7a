"""Memory: pages of a module by name, written field by field, and the forms they are kept in.

`lower` holds bytes 0 to 127, page `11` bytes 128 to 255, `1:11` the same of bank 1; an SFP has
`a0` and `a2` of 256 bytes each (contract 1).
"""

import json

from emulator.modules import codings

HALF = 128
WHOLE = 256
LOWER = "lower"
SFP_PAGES = ("a0", "a2")


class Memory:
    """What a module shows; what was not written is zero."""

    def __init__(self) -> None:
        self.pages: dict[str, bytearray] = {}

    def put(self, page: str, byte: int, content: bytes) -> None:
        """Write octets at a byte as the specification counts it; the page comes into being.

        Raises:
            ValueError: they do not fit the page.
        """
        start = self.start(page)
        held = self.pages.setdefault(page, bytearray(self.size(page)))
        place = byte - start
        if not 0 <= place <= len(held) - len(content):
            raise ValueError(f"page {page} has no {len(content)} bytes at {byte}")
        held[place : place + len(content)] = content

    def set(self, page: str, byte: int, value: int) -> None:
        """Write one octet."""
        self.put(page, byte, bytes((value,)))

    def get(self, page: str, byte: int, size: int = 1) -> bytes:
        """Return octets at a byte as the specification counts it."""
        place = byte - self.start(page)
        return bytes(self.pages[page][place : place + size])

    def sum_up(self, page: str, first: int, last: int, at: int) -> None:
        """Write the checksum of bytes `first` to `last` at a byte."""
        self.set(page, at, codings.checksum(self.get(page, first, last - first + 1)))

    def image(self) -> dict[str, bytes]:
        """Return the pages as they are now."""
        return {name: bytes(self.pages[name]) for name in sorted(self.pages, key=_order)}

    @staticmethod
    def size(page: str) -> int:
        """Return how many bytes a page has."""
        return WHOLE if page in SFP_PAGES else HALF

    @staticmethod
    def start(page: str) -> int:
        """Return the number of a page's first byte."""
        return 0 if page in (*SFP_PAGES, LOWER) else HALF


def _order(name: str) -> tuple[bool, str, str]:
    """Lower memory first, then banks in order, pages in order."""
    bank, _, page = name.rpartition(":")
    return name != LOWER, bank, page


def name_of(page: int, bank: int = 0) -> str:
    """Return the name of a page of a bank."""
    return f"{bank}:{page:02x}" if bank else f"{page:02x}"


def as_json(image: dict[str, bytes]) -> str:
    """Return an image as JSON, as contract 1 has it."""
    if LOWER not in image:
        return json.dumps({name: content.hex() for name, content in image.items()})
    pages = {name: content.hex() for name, content in image.items() if name != LOWER}
    return json.dumps({LOWER: image[LOWER].hex(), "pages": pages})


def as_linear(image: dict[str, bytes], *, repeat: bool = False) -> bytes:
    """Return an image as one stretch of bytes: page after page, zeros where there is none.

    Byte 128 x (page + 1) begins a page; of a banked page only bank 0 has a place. An SFP is its
    two addresses behind each other. With `repeat`, pages that are not there hold what many
    modules answer then: page 00h.
    """
    if LOWER not in image:
        return b"".join(image[name] for name in SFP_PAGES if name in image)
    numbers = [int(name, 16) for name in image if name != LOWER and ":" not in name]
    linear = bytearray(HALF * (max(numbers) + 2))
    if repeat:
        linear[HALF:] = image["00"] * (max(numbers) + 1)
    linear[:HALF] = image[LOWER]
    for number in numbers:
        place = HALF * (number + 1)
        linear[place : place + HALF] = image[name_of(number)]
    return bytes(linear)
