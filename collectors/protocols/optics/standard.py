"""A standard as a whole: its pages, its fields, and when what they say means nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from collectors.protocols.module import CMIS, QSFP, SFP, Kind, Memory, identified
from collectors.protocols.optics import (
    cmis_coherent,
    cmis_diagnostics,
    cmis_lanes,
    cmis_lower,
    cmis_vdm,
    elsfp,
    sff8472,
    sff8636,
)
from collectors.protocols.optics.field import (
    LANES_OF_BANK,
    Cell,
    Checksum,
    Field,
    Form,
    Page,
    Per,
    When,
    offered,
)


class Reader(Protocol):
    """Raw numbers of one module, or a column of them by module."""

    def __call__(self, page: str, byte: int, size: int = 1, *, signed: bool = False) -> Any:
        """Return a big-endian number: int, or int64 [module]."""
        ...


@dataclass(frozen=True, slots=True)
class Veil:
    """While something holds, fields that are there say nothing."""

    why: str
    page: str
    """The page that tells whether it holds."""
    holds: Callable[[Reader], Any]
    """Whether it holds: bool, or bool [module]; written with `&` and `|` so that it serves both."""
    hides: Callable[[Cell], bool]


@dataclass(frozen=True, slots=True)
class Standard:
    """One memory map."""

    name: str
    pages: tuple[Page, ...]
    fields: tuple[Field, ...]
    checksums: tuple[Checksum, ...]
    veils: tuple[Veil, ...]

    def page(self, name: str) -> Page | None:
        """Return a page by its name without bank; None where the standard has none."""
        return next((page for page in self.pages if page.name == name), None)


def _is(cell: Cell, *kinds: Kind) -> bool:
    return cell.field.tells is not None and cell.field.tells.kind in kinds


def _quantity(cell: Cell) -> str:
    return cell.field.tells.quantity if cell.field.tells is not None else ""


NOTHING_MEASURES = "temperature and supply voltage both read 0: nothing measures them"

SFP_MAP = Standard(
    SFP,
    sff8472.PAGES,
    sff8472.FIELDS,
    sff8472.CHECKSUMS,
    (
        Veil(
            "the module says that its data are not ready (A2h:110 bit 0)",
            sff8472.A2,
            lambda read: read(sff8472.A2, 110) & 1 == 1,
            lambda cell: _is(cell, Kind.VALUE),
        ),
    ),
)

QSFP_MAP = Standard(
    QSFP,
    sff8636.PAGES,
    sff8636.FIELDS,
    sff8636.CHECKSUMS,
    (
        Veil(
            "the module says that its data are not ready (lower:2 bit 0)",
            "",
            lambda read: read("", 2) & 1 == 1,
            lambda cell: cell.field.tells is not None,
        ),
        Veil(
            NOTHING_MEASURES,
            "",
            lambda read: (read("", 22, 2) == 0) & (read("", 26, 2) == 0),
            lambda cell: _quantity(cell) in sff8636.MODULE_ROWS,
        ),
    ),
)

LOW_POWER, READY = 1, 3
NOT_FLAT = When("", 2, 7, 1, frozenset({0}), "flat memory: the module has page 00h alone")
RESOURCE = When("", 57, 0, 8, frozenset({1}), "not a laser source")
CARRIES = When("", 57, 0, 8, frozenset(range(256)) - {1}, "a resource module carries no data lanes")
VDM = offered("01", 142, 6, "no versatile diagnostics (VDM)")
DIAGNOSTICS = offered("01", 142, 5, "no diagnostics pages")
COHERENT = offered("01", 142, 4, "not coherent")


MOST_LANES = 32
"""Lanes of four banks."""
IDLE = frozenset({1, 2, 3, 5, 6})
"""States of a data path that carries nothing: Deactivated, Init, Deinit, TxTurnOn, TxTurnOff."""
FIRST_STATE = 128
"""Page 11h: a nibble a host lane, the odd lane in the low one."""
OF_SIGNAL = {"snr", "pre_fec_ber"}


def _is_of_signal(cell: Cell) -> bool:
    """Return whether a value is measured on a signal, and means nothing without one."""
    return cell.field.of_four < 0 and (
        cell.field.form is Form.F16 or (_is(cell, Kind.VALUE) and _quantity(cell) in OF_SIGNAL)
    )


def _all_idle(read: Reader) -> Any:
    idle = True
    for place in range(LANES_OF_BANK):
        idle = idle & _is_idle(read, "11", place)
    return idle


def _is_idle(read: Reader, page: str, place: int) -> Any:
    state = read(page, FIRST_STATE + place // 2) >> 4 * (place % 2) & 0xF
    found = False
    for one in IDLE:
        found = found | (state == one)
    return found


def _idle_lane(lane: int) -> Veil:
    """Return that what is measured on the signal of a host lane without a data path is nothing."""
    bank, place = divmod(lane - 1, LANES_OF_BANK)
    page = f"{bank}:11" if bank else "11"
    return Veil(
        "the lane's data path is not active: there is no signal to measure",
        page,
        lambda read: _is_idle(read, page, place),
        lambda cell: (
            cell.lane == lane
            and cell.field.per in {Per.HOST, Per.HOST_IN_USE}
            and _is_of_signal(cell)
        ),
    )


def _vdm_pages() -> tuple[Page, ...]:
    gates = (NOT_FLAT, VDM)
    groups = range(cmis_vdm.GROUPS)
    rooms = (
        (cmis_vdm.DESCRIPTORS, "Descriptors of observables.", False),
        (cmis_vdm.SAMPLES, "Samples of observables.", True),
        (cmis_vdm.LIMITS, "Limits of observables.", False),
    )
    return (
        *(
            Page(cmis_vdm.name_of(first + group, 0), says, gates, changes, banked=True)
            for first, says, changes in rooms
            for group in groups
        ),
        Page(cmis_vdm.FLAGS, "Flags of observables.", gates, changes=True, banked=True),
        Page(cmis_vdm.CONTROL, "Control of versatile diagnostics.", gates),
    )


CMIS_MAP = Standard(
    CMIS,
    (
        Page("", "Status, flags, monitors, applications.", changes=True),
        Page("00", "What the module is."),
        Page("01", "What the module can do.", (NOT_FLAT,)),
        Page("02", "The module's own limits.", (NOT_FLAT,)),
        Page("04", "What a tunable laser can do.", (NOT_FLAT, cmis_lower.TUNABLE)),
        Page("10", "What is asked of the lanes.", (NOT_FLAT, CARRIES), banked=True),
        Page("11", "State, flags and monitors of the lanes.", (NOT_FLAT, CARRIES), changes=True,
             banked=True),
        Page("12", "Tuning of the lasers.", (NOT_FLAT, CARRIES, cmis_lower.TUNABLE), changes=True,
             banked=True),
        Page("13", "Loopbacks and test patterns.", (NOT_FLAT, CARRIES, DIAGNOSTICS), banked=True),
        Page("14", "Diagnostics that a selector shows.", (NOT_FLAT, CARRIES, DIAGNOSTICS),
             changes=True, banked=True),
        Page("1a", "Laser source: limits and flags.", (NOT_FLAT, RESOURCE), changes=True,
             banked=True),
        Page("1b", "Laser source: monitors.", (NOT_FLAT, RESOURCE), changes=True, banked=True),
        *_vdm_pages(),
        Page("34", "Coherent FEC.", (NOT_FLAT, COHERENT), changes=True),
        Page("35", "Coherent link.", (NOT_FLAT, COHERENT), changes=True),
    ),
    (*cmis_lower.FIELDS, *cmis_lanes.FIELDS, *cmis_vdm.ABOUT, *cmis_diagnostics.FIELDS,
     *cmis_coherent.FIELDS, *elsfp.FIELDS),
    (
        Checksum("00", 128, 221, 222, cmis_lower.ADMIN),
        Checksum("01", 130, 254, 255, cmis_lower.ADVERTISED),
        Checksum("02", 128, 254, 255, cmis_lower.THRESHOLDS),
    ),
    (
        Veil(
            NOTHING_MEASURES,
            "",
            lambda read: (read("", 14, 2) == 0) & (read("", 16, 2) == 0),
            lambda cell: cell.field.of_four < 0 and _quantity(cell) in sff8636.MODULE_ROWS,
        ),
        Veil(
            "in low power near 0 degC: its monitor is not running",
            "",
            lambda read: (read("", 3) >> 1 & 7 == LOW_POWER)
            & (abs(read("", 14, 2, signed=True)) < 256),
            lambda cell: _is(cell, Kind.VALUE) and _quantity(cell) == "temperature",
        ),
        Veil(
            "the module is not ready: error ratios are not measured",
            "",
            lambda read: read("", 3) >> 1 & 7 != READY,
            lambda cell: cell.field.form is Form.F16 and cell.field.of_four < 0,
        ),
        Veil(
            "no data path is active: there is no signal to measure",
            "11",
            _all_idle,
            lambda cell: _is_of_signal(cell) and cell.lane <= LANES_OF_BANK,
        ),
        *(_idle_lane(lane) for lane in range(1, MOST_LANES + 1)),
    ),
)  # fmt: skip
"""Rows of descriptors (VDM) are made by each module's own pages and come on top of these."""

STANDARDS = {SFP: SFP_MAP, QSFP: QSFP_MAP, CMIS: CMIS_MAP}


def standard_of(memory: Memory) -> Standard:
    """Return the standard that a memory follows, by its identifier.

    Raises:
        MalformedReply: 00h or FFh (the bus hangs, or nothing is plugged), or not known here.
    """
    return STANDARDS[identified(memory.byte("", 0))]
