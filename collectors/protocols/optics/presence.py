"""What of a standard's map one module has: cells that mean something, and why the rest do not.

A page is there if the module advertises it and the reply is its own: real modules answer a page
that they do not have with page 00h, and a bus that hangs answers FFh.
"""

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, field, replace
from itertools import islice

from collectors.protocols.module import CMIS, DIAGNOSTICS, HALF, QSFP, SFP, Memory
from collectors.protocols.optics import cmis_vdm
from collectors.protocols.optics.field import LANES_OF_BANK, Cell, Field, Per
from collectors.protocols.optics.standard import Standard, standard_of
from fabrichealth.errors import MalformedReply

ONES = b"\xff" * HALF
ZEROS = bytes(HALF)
NEVER_ZERO = {"01", "11"}
"""Pages that hold something on every module: no lane is in state 0, no module offers nothing."""
ALL_LANES = 0xFF
SAYS_NOTHING = 0xFF
"""00h:210 of real modules with eight working lanes."""
REPEATED_OF_A2 = 96
"""Bytes of A2h that repeat the identity of A0h; its monitors lie behind them."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A field that this module does not have, and why."""

    field: Field
    why: str
    place: str = ""
    """The bits that say so, where some do."""


@dataclass(frozen=True, slots=True)
class Presence:
    """One module's map."""

    standard: Standard
    cells: tuple[Cell, ...]
    absent: tuple[Absent, ...]
    unusable: dict[str, str]
    """Pages that were read and are not what they should be, and why."""
    unknown: Counter[int]
    """Observables of types that are not known, by type."""
    consulted: frozenset[tuple[str, int]]
    """Bytes that this map follows from: another module with the same has the same map."""


@dataclass(frozen=True, slots=True)
class Watched(Memory):
    """A memory that notes which bytes were asked for."""

    seen: set[tuple[str, int]] = field(default_factory=set)

    def byte(self, page: str, byte: int) -> int:
        """Return a byte, and note it."""
        self.seen.add((page if byte >= HALF or page == DIAGNOSTICS else "", byte))
        return Memory.byte(self, page, byte)


def usable(memory: Memory, standard: Standard) -> tuple[frozenset[str], dict[str, str]]:
    """Return the pages that are what they should be, and why the others are not.

    Raises:
        MalformedReply: the lower memory or page 00h is none.
    """
    bad: dict[str, str] = {}
    for page in memory.pages:
        why = _unusable(memory, page)
        if why:
            bad[page] = why
    if not memory.has(""):
        raise MalformedReply(f"lower memory of {len(memory.lower)} bytes, not {HALF}")
    if standard.name != SFP and ("00" in bad or "00" not in memory.pages):
        raise MalformedReply(f"page 00h {bad.get('00', 'was not read')}")
    return frozenset(memory.pages.keys() - bad.keys()), bad


def _unusable(memory: Memory, page: str) -> str:
    """Return why a page is not what it should be; empty if it is."""
    half = memory.pages[page]
    may_repeat = page not in {"00", DIAGNOSTICS}
    reasons = (
        (len(half) != HALF, f"has {len(half)} bytes, not {HALF}"),
        (half == ONES, "is FFh throughout: the bus hangs, or nothing answers"),
        (
            half == ZEROS and page.rpartition(":")[2] in NEVER_ZERO,
            "is 00h throughout: the bus hangs, or nothing answers",
        ),
        (
            may_repeat and repeats_identity(half, memory.lower[:1]),
            "repeats page 00h: the module does not have it",
        ),
        (
            may_repeat and repeats_lower(half, memory.lower),
            "repeats the lower memory: it is not what was asked for",
        ),
    )
    return next((why for holds, why in reasons if holds), "")


def repeats_identity(half: bytes, identifier: bytes) -> bool:
    """Return whether a page looks like page 00h: identifier, then names of vendor and part."""
    vendor, part = half[1:17], half[20:36]
    return half[:1] == identifier and all(_is_name(text) for text in (vendor, part))


def repeats_lower(half: bytes, lower: bytes) -> bool:
    """Return whether a page looks like lower memory: identifier, revision, media, applications."""
    if len(half) != HALF:
        return False
    alike = half[0] == lower[0] and half[1] >> 4 == lower[1] >> 4
    return alike and half[85:94] == lower[85:94] and any(lower[85:94])


def _is_name(text: bytes) -> bool:
    return all(32 <= one < 127 or not one for one in text) and any(65 <= one < 123 for one in text)


def resolve(memory: Memory) -> Presence:
    """Return which values a module has, and why it does not have the others.

    Raises:
        MalformedReply: the identifier is not known, or lower memory or page 00h is not whole.
    """
    standard = standard_of(memory)
    pages, bad = usable(memory, standard)
    seen = Watched(memory.lower, {page: memory.pages[page] for page in pages})
    found: list[cmis_vdm.Instance] = []
    banks = 1
    if standard.name == CMIS:
        banks = banks_of(seen)
        if _gate(standard, cmis_vdm.name_of(cmis_vdm.DESCRIPTORS, 0), seen) is None:
            found = list(cmis_vdm.instances(seen, pages, banks))
    lanes = _Lanes(seen, standard.name)
    cells: list[Cell] = []
    absent: list[Absent] = []
    for row in (*standard.fields, *cmis_vdm.fields(found)):
        why = _why_absent(row, standard, seen, pages, bad)
        if why:
            absent.append(why)
            continue
        factor = row.factor.of(seen) if row.factor else 1.0
        powers = row.calibration.of(seen) if row.calibration else ()
        for bank in range(banks if row.banked else 1):
            cells += [
                replace(cell, factor=factor, powers=powers) if factor != 1.0 or powers else cell
                for cell in row.cells(bank)
                if _page_of(cell) in {"", *pages} and lanes.has(cell)
            ]
    numbers = frozenset(seen.seen)
    return Presence(standard, tuple(cells), tuple(absent), bad, cmis_vdm.unknown(found), numbers)


def banks_of(memory: Memory) -> int:
    """Return how many banks of eight lanes a CMIS module has (01h:142 bits 1-0)."""
    code = memory.byte("01", 142) & 3
    return 1 << code if code < 3 else 1


def _page_of(cell: Cell) -> str:
    return cell.page if cell.byte >= HALF or cell.page == DIAGNOSTICS else ""


def _gate(standard: Standard, name: str, memory: Memory) -> Absent | None:
    """Return why a page is not there by what the module advertises; None if it is."""
    page = standard.page(name)
    for gate in page.gates if page else ():
        if not gate.holds(memory):
            return Absent(_NO_FIELD, gate.why, gate.place)
    return None


_NO_FIELD = Field("", "", 0, "", "")


def _why_absent(
    row: Field, standard: Standard, memory: Memory, pages: Set[str], bad: dict[str, str]
) -> Absent | None:
    name = row.page.rpartition(":")[2]
    shut = _gate(standard, name, memory)
    if shut:
        return Absent(row, shut.why, shut.place)
    for gate in row.gates:
        if not gate.holds(memory):
            shut = _gate(standard, gate.page, memory)  # where the page of the bit is not there
            return Absent(row, shut.why, shut.place) if shut else Absent(row, gate.why, gate.place)
    if row.byte >= HALF or row.page == DIAGNOSTICS:
        if row.page in bad:
            return Absent(row, f"page {row.page}h {bad[row.page]}")
        if row.page not in pages:
            return Absent(row, f"page {row.page}h was not read")
    if row.page == DIAGNOSTICS and row.byte < REPEATED_OF_A2 and _a2_repeats(memory):
        return Absent(row, "address A2h repeats A0h here")
    return None


def _a2_repeats(memory: Memory) -> bool:
    """Return whether A2h begins with what A0h begins with: its names of vendor and part."""
    names = (range(20, 36), range(40, 56))
    same = memory.byte(DIAGNOSTICS, 0) == memory.byte("", 0)
    return same and all(
        _is_name(bytes(memory.byte(DIAGNOSTICS, byte) for byte in name)) for name in names
    )


class _Lanes:
    """Which lanes a module has, beyond those that its map has room for."""

    def __init__(self, memory: Memory, standard: str) -> None:
        self._memory = memory
        self._media = self._host = ALL_LANES
        self._lasers = 0
        if standard == QSFP:
            self._media = ~memory.byte("", 113) & 0xF
        if standard == CMIS:
            missing = memory.byte("00", 210)
            self._media = _media(memory) if missing == SAYS_NOTHING else ~missing & 0xFF
            self._host = _host(memory)
            self._lasers = memory.byte("1a", 140) >> 1
        self._standard = standard

    def has(self, cell: Cell) -> bool:
        """Return whether the lane of a value exists."""
        bank, place = divmod(cell.lane - 1, LANES_OF_BANK)
        match cell.field.per if cell.lane else Per.MODULE:
            case Per.MEDIA:
                return bank > 0 or bool(self._media >> place & 1)
            case Per.HOST:
                return bank > 0 or bool(self._host >> place & 1)
            case Per.HOST_IN_USE:
                page = f"{bank}:11" if bank else "11"
                return self._memory.byte(page, 206 + place) >> 4 != 0
            case Per.LASER:
                return not self._lasers or cell.lane <= self._lasers
        return True


def applications(memory: Memory) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield number, host lanes, media lanes, host starts and media starts of each application."""
    for number in range(1, 16):
        page, at = ("", 86 + 4 * (number - 1)) if number < 9 else ("01", 223 + 4 * (number - 9))
        if memory.byte(page, at) in {0x00, 0xFF}:
            return
        lanes, starts = memory.byte(page, at + 2), memory.byte(page, at + 3)
        yield number, lanes >> 4, lanes & 0xF, starts, memory.byte("01", 176 + number - 1)


def _bitmap(width: int, starts: int) -> int:
    found = 0
    for start in range(LANES_OF_BANK):
        if starts >> start & 1:
            found |= ((1 << width) - 1) << start
    return found & ALL_LANES


def _host(memory: Memory) -> int:
    """Return a bitmap of the host lanes that some application uses; all if none says."""
    found = 0
    for _, width, _, starts, _ in applications(memory):
        found |= _bitmap(width, starts)
    return found or ALL_LANES


def _media(memory: Memory) -> int:
    """Return a bitmap of the media lanes of the active application; all if it does not say."""
    number = memory.byte("11", 206) >> 4 or 1
    active = next(islice(applications(memory), number - 1, number), None)
    return _bitmap(active[2], active[4]) or ALL_LANES if active else ALL_LANES
