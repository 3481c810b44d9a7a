"""CMIS versatile diagnostics (VDM), pages 20h to 2Fh: observables that descriptors announce.

Pages 20h to 23h hold 64 descriptors each: which observable, of which lane, with which set of
limits. The sample lies at the same index on the page four further, its limits four further again,
its flags on page 2Ch. Statistics (minimum, maximum, average, totals) stand as they were at the
last freeze; a reader that only looks freezes nothing, so the catalogue takes what is current.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from collectors.protocols.module import BOUNDS, Item, Kind, Memory
from collectors.protocols.optics.field import LANES_OF_BANK, Field, Form, Per
from collectors.protocols.optics.rows import CELSIUS

SPEC = "OIF-CMIS-05.2 Pages 20h-2Fh (VDM)"
DESCRIPTORS, SAMPLES, LIMITS, FLAGS, CONTROL = 0x20, 0x24, 0x28, "2c", "2f"
GROUPS = 4
INSTANCES = 64
"""Observables of one group."""
WHOLE = 0xF
"""In place of a lane: the module or the data path."""
CUSTOM = range(100, 128)
"""Types of the vendor's own; nobody else knows what they are."""
STATISTICS = ("minimum", "maximum", "average", "current")


class Observable(NamedTuple):
    """One type: what it is, how coded, and which side it is about."""

    name: str
    form: Form
    scale: float
    unit: str
    side: str = "media"
    quantity: str = ""
    """Under which name the catalogue takes it; empty where it does not."""
    none: frozenset[int] = frozenset()


UNMEASURED = frozenset({0xFFFF})
NOT_A_SHARE = frozenset({0x8000})
U, S, F = Form.UNSIGNED, Form.SIGNED, Form.F16
PERCENT = 1 / 65535


def _pair(first: int, name: str, form: Form, scale: float, unit: str, *, quantity: str = "",
          none: frozenset[int] = frozenset()) -> dict[int, Observable]:  # fmt: skip
    """Return a type of the media side and the next one, of the host side."""
    return {
        first + number: Observable(f"{side}_{name}", form, scale, unit, side, quantity, none)
        for number, side in enumerate(("media", "host"))
    }


def _statistics(first: int, name: str, form: Form, quantity: str = "") -> dict[int, Observable]:
    """Return minimum, maximum, average and current, media and host side by side."""
    found: dict[int, Observable] = {}
    for number, statistic in enumerate(STATISTICS):
        taken = quantity if statistic in {"average", "current"} else ""
        found |= _pair(first + 2 * number, f"{name}_{statistic}", form, 1.0, "", quantity=taken)
    return found


OBSERVABLES: dict[int, Observable] = {
    1: Observable("laser_age", U, 0.01, "", quantity="laser_age"),
    2: Observable("tec_current", S, 1 / 32767, "", quantity="tec_current", none=NOT_A_SHARE),
    3: Observable("laser_frequency_error", S, 1e7, "Hz"),
    4: Observable("laser_temperature", S, CELSIUS, "degC", quantity="laser_temperature"),
    **_pair(5, "snr", U, 1 / 256, "dB", quantity="snr", none=UNMEASURED),
    **_pair(7, "level_transition", U, 1 / 256, "dB", none=UNMEASURED),
    **_statistics(9, "pre_fec_ber", F, "pre_fec_ber"),
    **_statistics(17, "errored_frames", F),
    **_pair(25, "errored_frames_total", F, 1.0, ""),
    **_statistics(27, "symbol_errors_weight", U),
    77: Observable("supply_2v6", U, 100e-6, "V"),
    78: Observable("supply_1v8", U, 100e-6, "V"),
    79: Observable("supply_1v2", U, 100e-6, "V"),
    80: Observable("supply_0v9", U, 100e-6, "V"),
    81: Observable("supply_0v7_a", U, 100e-6, "V"),
    82: Observable("supply_0v7_b", U, 100e-6, "V"),
    83: Observable("supply_12v", U, 250e-6, "V"),
    84: Observable("laser_input_power", S, 0.01, "dBm"),
    128: Observable("modulator_bias_xi", U, PERCENT, ""),
    129: Observable("modulator_bias_xq", U, PERCENT, ""),
    130: Observable("modulator_bias_yi", U, PERCENT, ""),
    131: Observable("modulator_bias_yq", U, PERCENT, ""),
    132: Observable("modulator_bias_x_phase", U, PERCENT, ""),
    133: Observable("modulator_bias_y_phase", U, PERCENT, ""),
    134: Observable("chromatic_dispersion_short", S, 1.0, "ps/nm"),
    135: Observable("chromatic_dispersion_long", S, 20.0, "ps/nm"),
    136: Observable("differential_group_delay", U, 0.01e-12, "s"),
    137: Observable("second_order_pmd", U, 0.01, "ps2"),
    138: Observable("polarisation_dependent_loss", U, 0.1, "dB"),
    139: Observable("osnr", U, 0.1, "dB"),
    140: Observable("esnr", U, 0.1, "dB"),
    141: Observable("carrier_frequency_offset", S, 1e6, "Hz"),
    142: Observable("error_vector_magnitude", U, PERCENT, ""),
    143: Observable("tx_power_total", S, 0.01, "dBm"),
    144: Observable("rx_power_total", S, 0.01, "dBm"),
    145: Observable("rx_power_signal", S, 0.01, "dBm"),
    146: Observable("polarisation_rotation", U, 1e3, "rad/s"),
    147: Observable("modulation_error_ratio", U, 0.1, "dB"),
}
"""Every type of CMIS 5 and C-CMIS, by number."""

ALARMED = {"snr", "laser_temperature"}
"""Observables whose limits and flags the catalogue has names for."""

ABOUT = (
    Field("vdm_groups", CONTROL, 128, "Groups of observables, less one.", SPEC, width=2),
    Field("vdm_interval", CONTROL, 129, "Interval over which statistics are made.", SPEC, size=2,
          scale=1e-4, unit="s"),
    Field("vdm_frozen", CONTROL, 145, "The samples stand still for a reader.", SPEC, low=7,
          width=1),
)  # fmt: skip


class Instance(NamedTuple):
    """One descriptor: where it stands, and what it announces."""

    bank: int
    group: int
    place: int
    limits: int
    lane: int
    """From 1; 0 is the module or data path as a whole."""
    type: int


def name_of(page: int, bank: int) -> str:
    """Return the name of a page in a bank."""
    return f"{bank}:{page:02x}" if bank else f"{page:02x}"


def instances(memory: Memory, pages: frozenset[str], banks: int) -> Iterator[Instance]:
    """Yield what the descriptor pages announce, as far as they were read."""
    stated = (memory.byte(CONTROL, 128) & 3) + 1 if CONTROL in pages else GROUPS
    for bank in range(banks):
        for group in range(stated):
            page = name_of(DESCRIPTORS + group, bank)
            if page not in pages:
                continue
            for index in range(INSTANCES):
                kind = memory.byte(page, 129 + 2 * index)
                if kind:
                    first = memory.byte(page, 128 + 2 * index)
                    lane = first & 0xF
                    lane = 0 if lane == WHOLE else lane + 1 + LANES_OF_BANK * bank
                    yield Instance(bank, group, index, first >> 4, lane, kind)


def unknown(found: list[Instance]) -> Counter[int]:
    """Return how many instances have a type that is not in the table, by type."""
    return Counter(one.type for one in found if one.type not in OBSERVABLES)


def fields(found: list[Instance]) -> Iterator[Field]:
    """Yield the rows that descriptors make: sample, flags and limits of each instance."""
    current = {
        (one.lane, OBSERVABLES[one.type].side)
        for one in found
        if one.type in OBSERVABLES and OBSERVABLES[one.type].name.endswith("ber_current")
    }
    sets: dict[int, set[tuple[int, int, int]]] = {}
    for one in found:
        sets.setdefault(one.type, set()).add((one.bank, one.group, one.limits))
    for one in found:
        kind = OBSERVABLES.get(one.type)
        if kind is not None:
            stands_for = kind.name.endswith("_average") and (one.lane, kind.side) in current
            yield _sample(one, kind, "" if stands_for else kind.quantity)
            yield from _bounds(one, kind, single=len(sets[one.type]) == 1)


def _sample(one: Instance, kind: Observable, quantity: str) -> Field:
    tells = Item(Kind.VALUE, quantity, 0, kind.side) if quantity else None
    return _row(one, kind, f"vdm_{kind.name}", name_of(SAMPLES + one.group, one.bank),
                128 + 2 * one.place, f"Observable {one.type}.", tells)  # fmt: skip


def _bounds(one: Instance, kind: Observable, *, single: bool) -> Iterator[Field]:
    told = kind.quantity if kind.quantity in ALARMED and kind.side == "media" else ""
    flags = name_of(int(FLAGS, 16), one.bank)
    for number, (bound, level) in enumerate(BOUNDS):
        tells = Item(Kind.ALARM, told, 0, "media", bound, level) if told else None
        yield Field(
            f"vdm_{kind.name}_{bound}_{level}", flags,
            128 + 32 * one.group + one.place // 2,
            f"Latched: observable {one.type} was beyond its {bound} {level} limit.", SPEC,
            low=4 * (one.place % 2) + number, width=1, per=_per(one, kind),
            lanes=int(one.lane > 0), first=one.lane, tells=tells,
        )  # fmt: skip
        tells = Item(Kind.LIMIT, told, 0, "media", bound, level) if told and single else None
        yield _row(one, kind, f"vdm_{kind.name}_{bound}_{level}_limit",
                   name_of(LIMITS + one.group, one.bank), 128 + 8 * one.limits + 2 * number,
                   f"The module's own {bound} {level} limit of observable {one.type}.",
                   tells, of_four=number)  # fmt: skip


def _per(one: Instance, kind: Observable) -> Per:
    if not one.lane:
        return Per.MODULE
    return Per.HOST if kind.side == "host" else Per.MEDIA


def _row(
    one: Instance,
    kind: Observable,
    name: str,
    page: str,
    byte: int,
    says: str,
    tells: Item | None,
    of_four: int = -1,
) -> Field:
    of_lane = of_four < 0
    lanes = int(one.lane > 0 and of_lane)
    return Field(
        name, page, byte, says, SPEC, kind.form, 2, scale=kind.scale, unit=kind.unit,
        per=_per(one, kind) if of_lane else Per.MODULE, lanes=lanes, first=one.lane,
        none=kind.none, tells=tells, of_four=of_four,
    )  # fmt: skip
