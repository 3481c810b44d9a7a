"""Reading a module gently: what stands still once per insertion, what moves once a poll.

A page costs 5 to 15 ms on the module's bus. Pages that no module advertises are not asked for:
real modules answer them with page 00h. Nothing is ever written.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from errno import EOPNOTSUPP
from typing import Protocol

from collectors.protocols.module import CMIS, DIAGNOSTICS, HALF, SFP, Memory, image
from collectors.protocols.optics import cmis_vdm
from collectors.protocols.optics.field import Page
from collectors.protocols.optics.presence import banks_of
from collectors.protocols.optics.standard import DIAGNOSTICS as DIAGNOSTIC_PAGES
from collectors.protocols.optics.standard import VDM, Standard, standard_of
from fabrichealth.errors import MalformedReply

SECOND_ADDRESS = 0x51
"""I2C address of an SFP's A2h as the kernel counts addresses (7 bits)."""
STANDING = (*range(3), 39, 40, 57, *range(85, 118))
"""Bytes of CMIS lower memory that say what the module is: if they move, it is another one."""
REPORTED = {"04", "10", "12", "34", "35"}
"""Pages that hold nothing for the catalogue; only a report wants them."""


class Pages(Protocol):
    """All this needs of the kernel; refusals are `OSError` with their errno."""

    def module_page(
        self, interface: str, page: int, *, upper: bool, bank: int = 0, address: int = 0x50
    ) -> bytes:
        """Return half a page, 128 bytes."""
        ...

    def module_image(self, interface: str) -> bytes:
        """Return the memory as one image, from kernels that know no pages."""
        ...


Failures = dict[str, OSError | MalformedReply]
"""Why pages could not be read: the kernel's refusal, or an answer that is no half page."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one visit to a module gave."""

    memory: Memory
    failed: Failures = field(default_factory=dict)
    """Pages that it should have and that could not be read."""


@dataclass(slots=True)
class _Plugged:
    """What stands still in a module."""

    lower: bytes
    pages: dict[str, bytes]
    read_at: float


@dataclass(slots=True)
class ModuleReader:
    """Reads the modules of one host, each by its interface."""

    kernel: Pages
    identity_every: float = 600.0
    """Page 00h is read again after so many seconds, should a module have been swapped unseen."""
    whole: bool = False
    """Read also what only a report shows."""
    _plugged: dict[str, _Plugged] = field(default_factory=dict)

    def read(self, name: str, at: float) -> Seen:
        """Read one module.

        Raises:
            OSError: the kernel's errno, for the lower memory or page 00h.
            MalformedReply: the identifier is not known, or the answer makes no sense.
        """
        try:
            lower = self.kernel.module_page(name, 0, upper=False)
        except OSError as wrong:
            self._plugged.pop(name, None)
            if wrong.errno != EOPNOTSUPP:
                raise
            return Seen(from_image(self.kernel.module_image(name)))
        failed: Failures = {}
        known = self._still_there(name, lower, at)
        if known is None:
            self._plugged.pop(name, None)
            pages = self._standing(name, lower, failed)
            known = _Plugged(lower, pages, at)
            if not failed:
                self._plugged[name] = known
        halves = dict(known.pages)
        for page, key in self._wanted(Memory(lower, known.pages), moving=True):
            self._take(name, page, key, halves, failed)
        return Seen(Memory(lower, halves), failed)

    def forget(self, name: str) -> None:
        """Read everything of a module at the next visit."""
        self._plugged.pop(name, None)

    def _still_there(self, name: str, lower: bytes, at: float) -> _Plugged | None:
        """Return what is known of a module, unless another one is plugged in its place."""
        known = self._plugged.get(name)
        if known is None or not _same(known.lower, lower):
            return None
        if at - known.read_at >= self.identity_every:
            if self.kernel.module_page(name, 0, upper=True) != known.pages["00"]:
                return None
            known.read_at = at
        return known

    def _standing(self, name: str, lower: bytes, failed: Failures) -> dict[str, bytes]:
        halves = {"00": self.kernel.module_page(name, 0, upper=True)}
        memory = Memory(lower, halves)
        standard = standard_of(memory)
        first = (Page("01", ""), Page(cmis_vdm.CONTROL, "", (VDM,)))
        for page in first if standard.name == CMIS and not memory.bit("", 2, 7) else ():
            if all(gate.holds(memory) for gate in page.gates):
                self._take(name, page, page.name, halves, failed)
        for page, key in self._wanted(memory, moving=False):
            if key not in halves and key not in failed:
                self._take(name, page, key, halves, failed)
        return halves

    def _wanted(self, memory: Memory, *, moving: bool) -> Iterator[tuple[Page, str]]:
        """Yield the pages that a module advertises, with their names, bank by bank."""
        standard = standard_of(memory)
        for page in standard.pages:
            if page.name and page.changes is moving and self._is_wanted(page, standard, memory):
                for bank in range(banks_of(memory) if page.banked else 1):
                    yield page, f"{bank}:{page.name}" if bank else page.name

    def _is_wanted(self, page: Page, standard: Standard, memory: Memory) -> bool:
        if not all(gate.holds(memory) for gate in page.gates):
            return False
        if standard.name == SFP:
            return self.whole or page.name != "00"
        if standard.name != CMIS:
            return True
        if page.name in REPORTED and not self.whole:
            return False
        if DIAGNOSTIC_PAGES in page.gates and VDM.holds(memory) and not self.whole:
            return False  # versatile diagnostics tell the same without a selector
        group = _group(page)
        return group is None or group <= memory.byte(cmis_vdm.CONTROL, 128) & 3

    def _take(
        self, name: str, page: Page, key: str, halves: dict[str, bytes], failed: Failures
    ) -> None:
        """Read one page into the halves that are being filled."""
        bank = int(key.partition(":")[0]) if ":" in key else 0
        try:
            if page.name == DIAGNOSTICS:
                half = self.kernel.module_page(name, 0, upper=False, address=SECOND_ADDRESS)
            else:
                half = self.kernel.module_page(name, int(page.name, 16), upper=True, bank=bank)
        except (OSError, MalformedReply) as wrong:
            failed[key] = wrong
        else:
            halves[key] = half


def _same(before: bytes, now: bytes) -> bool:
    """Return whether two lower memories are of one module, as far as they say."""
    if before[:1] != now[:1]:
        return False
    memory = Memory(now)
    if standard_of(memory).name == SFP:
        return before == now
    if standard_of(memory).name != CMIS:
        return True
    return all(before[byte] == now[byte] for byte in STANDING)


def _group(page: Page) -> int | None:
    """Return the group of observables that a page is part of."""
    number = int(page.name, 16)
    return (
        number & 3 if cmis_vdm.DESCRIPTORS <= number < cmis_vdm.LIMITS + cmis_vdm.GROUPS else None
    )


def from_image(whole: bytes) -> Memory:
    """Return the memory in a linear image, as old kernels and `ethtool -m raw on` give it.

    Of an SFP, address A2h follows the 256 bytes of A0h.

    Raises:
        MalformedReply: it holds no whole page, or its identifier is not known.
    """
    memory = image(whole)
    if standard_of(memory).name != SFP:
        return memory
    pages = {"00": memory.pages["00"]}
    if len(whole) >= 3 * HALF:
        pages[DIAGNOSTICS] = whole[2 * HALF : 3 * HALF]
    return Memory(memory.lower, pages)
