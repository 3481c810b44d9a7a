"""Device: a module as its owner meets it on the bus, with all that reading and writing does.

Flags stay up until they are read, so the first reader alone sees them. Page 14h shows what its
selector says. VDM keeps least, greatest and mean between two freezes. A page that is not there
reads as page 00h, as on many modules.
"""

from dataclasses import dataclass, field

from emulator.modules import diagnostics
from emulator.modules.builds import BUILDS, ELSFP, QSFP28, SFP, Build
from emulator.modules.image import memory
from emulator.modules.memory import HALF, LOWER, Memory, name_of
from emulator.modules.observed import observe
from emulator.modules.vdm import Instance
from emulator.optics import ModuleState

VDM_CONTROL = 0x2F
FREEZE_AT, FROZEN_AT = 144, 145
FREEZE, FROZEN, THAWED = 0x80, 0x80, 0x40
SELECT_AT = 128

Places = dict[str, tuple[tuple[int, int], ...]]
CMIS_FLAGS: Places = {LOWER: ((8, 12),), "11": ((134, 154),), "2c": ((128, 256),)}
SFF8636_FLAGS: Places = {LOWER: ((3, 15),)}
SFF8472_FLAGS: Places = {"a2": ((112, 114), (116, 118))}
ELSFP_FLAGS: Places = {LOWER: ((8, 12),), "1a": ((166, 182), (186, 194))}
"""Bytes that hold flags, first and behind the last, by page; of every bank."""

EXTREMES = {15: (9, 11, 13), 16: (10, 12, 14), 23: (17, 19, 21), 24: (18, 20, 22)}
"""Types of least, greatest and mean, by the type of which they are."""


@dataclass
class Span:
    """Least, greatest and mean of a number since it began anew."""

    least: float
    greatest: float
    total: float = 0.0
    count: int = 0

    def add(self, value: float) -> None:
        """Take in a value."""
        self.least, self.greatest = min(self.least, value), max(self.greatest, value)
        self.total, self.count = self.total + value, self.count + 1


@dataclass
class Bus:
    """One module; `advance` after its state has moved, `read` and `write` as its owner."""

    state: ModuleState
    selector: int = diagnostics.SNR
    _latched: dict[tuple[str, int], int] = field(default_factory=dict)
    _spans: dict[int, Span] = field(default_factory=dict)
    _told: dict[int, Span] = field(default_factory=dict)
    _frozen: int = 0
    _seconds: float = 0.0
    _memory: Memory = field(default_factory=Memory)

    def __post_init__(self) -> None:
        self.advance(0.0)

    def advance(self, seconds: float) -> None:
        """Let so many seconds be over: flags that hold now are kept, statistics go on."""
        self._seconds += seconds
        build = BUILDS[self.state.kind]
        self._measure(build)
        observed = dict(observe(self.state, build)) if build.observables else None
        for kinds, span in ((EXTREMES[at], one) for at, one in self._told.items()):
            mean = span.total / max(span.count, 1)
            for kind, value in zip(kinds, (span.least, span.greatest, mean), strict=True):
                if observed is not None and Instance(kind) in observed:
                    observed[Instance(kind)] = value
        self._memory = memory(
            self.state, selector=self.selector, observed=observed, seconds=self._seconds
        )
        for page, byte in self._places():
            now = self._memory.get(page, byte)[0]
            kept = self._latched.get((page, byte), 0) | now
            if kept:
                self._latched[page, byte] = kept

    def read(self, page: int, byte: int, size: int, bank: int = 0) -> bytes:
        """Return bytes of lower memory (below 128) or of a page; flags are cleared by it.

        An SFP's address A2h is page 1 here, and bytes run to 255.
        """
        name = self._name(page, byte, bank)
        if name not in self._memory.pages:
            name = "00"
        found = bytearray(self._memory.get(name, byte, size))
        for place in range(byte, byte + size):
            kept = self._latched.pop((name, place), None)
            if kept is not None:
                found[place - byte] = kept
        if name == name_of(VDM_CONTROL) and byte <= FROZEN_AT < byte + size:
            found[FROZEN_AT - byte] = self._frozen
        return bytes(found)

    def write(self, page: int, byte: int, content: bytes, bank: int = 0) -> None:
        """Take what the owner writes: the selector of page 14h, the freeze of VDM; no more."""
        name = self._name(page, byte, bank)
        if name.endswith("14") and byte == SELECT_AT:
            self.selector = content[0]
            self.advance(0.0)
        elif name.endswith("2f") and byte == FREEZE_AT:
            if content[0] & FREEZE:
                self._frozen = FROZEN
                self._told, self._spans = self._spans, {}
            else:
                self._frozen = THAWED
            self.advance(0.0)

    def dump(self, pages: tuple[int, ...]) -> dict[str, bytes]:
        """Return lower memory and these pages of bank 0 as one who reads everything gets them."""
        lower = {LOWER: self.read(0, 0, HALF)}
        return lower | {name_of(page): self.read(page, HALF, HALF) for page in pages}

    def _name(self, page: int, byte: int, bank: int) -> str:
        if BUILDS[self.state.kind].identifier == SFP:
            return "a2" if page else "a0"
        return LOWER if byte < HALF else name_of(page, bank)

    def _measure(self, build: Build) -> None:
        """Take current error rates and errored frames into their spans."""
        if not build.observables:
            return
        observed = observe(self.state, build)
        for current in EXTREMES:
            values = [value for one, value in observed.items() if one.type == current]
            if values:
                mean = sum(values) / len(values)
                self._spans.setdefault(current, Span(mean, mean)).add(mean)

    def _places(self) -> list[tuple[str, int]]:
        """Return (page, byte) of every flag that this module has."""
        identifier = BUILDS[self.state.kind].identifier
        flags = {SFP: SFF8472_FLAGS, QSFP28: SFF8636_FLAGS, ELSFP: ELSFP_FLAGS}.get(
            identifier, CMIS_FLAGS
        )
        return [
            (name, byte)
            for name in self._memory.pages
            for first, last in flags.get(name.rpartition(":")[2], ())
            for byte in range(first, last)
        ]
