"""A module for a person: what it is, how it is, what it cannot tell and why.

Every line comes from the slow decoder, so that `explain` can name page, bytes, raw number and
specification of each value.
"""

from collections.abc import Iterable, Iterator, Mapping

from collectors.optics import explanation, measured
from collectors.optics.seen import SeenModule, seen
from collectors.optics.wording import runs, table, told
from collectors.protocols.module import BOUNDS, CMIS, Memory
from collectors.protocols.optics import codes
from collectors.protocols.optics.identity import UNKNOWABLE, identity_of
from collectors.protocols.optics.presence import Absent, applications
from collectors.protocols.optics.reference import Told
from fabrichealth.errors import MalformedReply

CAPABILITIES = {
    "power_class", "power_class_high", "power_limit", "technology", "wavelength", "banks", "cooled",
    "tunable", "tx_cdr", "rx_cdr", "vdm_pages", "diagnostics_pages", "coherent_pages",
    "rx_power_kind", "temperature_highest", "temperature_lowest", "case_temperature_limit",
    "length_single_mode", "length_om3", "length_om4", "length_cable", "cable_length",
    "signalling_rate", "internally_calibrated", "externally_calibrated", "cdb_instances",
    "vdm_interval", "lasers", "revision",
}  # fmt: skip
STATE = ("module_state", "fault_cause", "data_not_ready")
MOST_NAMES = 5
CUSTOM_INTERFACE = 0xC0
"""From here on interface codes are the vendor's own."""


def report(modules: Iterable[tuple[str, Memory]], *, explain: bool) -> Iterator[str]:
    """Yield the lines of a report of modules, each with the name of its port."""
    for port, memory in modules:
        try:
            module = seen(memory)
        except MalformedReply as wrong:
            yield f"port {port}: {wrong}"
            continue
        yield from _one(port, module, explain=explain)
        yield ""


def _one(port: str, module: SeenModule, *, explain: bool) -> Iterator[str]:
    yield from _identity(port, module)
    sections = (
        ("Capabilities", _capabilities(module)),
        ("Applications (* active)", _applications(module)),
        ("Monitors", measured.monitors(module)),
        ("Lanes", measured.lanes(module)),
        ("Versatile diagnostics (VDM) and diagnostics pages", measured.diagnostics(module)),
        ("Flags raised (latched until read)", _flags(module)),
        ("What it does not have, and why", _absent(module)),
        ("What is odd about the memory", _wrong(module)),
        ("Where each value comes from", explanation.lines(module) if explain else ()),
    )
    for title, lines in sections:
        found = list(lines)
        if found:
            yield f"{title}:"
            yield from found


def _identity(port: str, module: SeenModule) -> Iterator[str]:
    known = identity_of(module.memory)
    kind = codes.IDENTIFIERS.get(module.memory.byte("", 0), "unknown form")
    name = module.presence.standard.name
    revision = module.memory.byte("", 1)
    standard = f"CMIS {revision >> 4}.{revision & 0xF}" if name == CMIS else name.upper()
    yield f"port {port}: {kind} ({standard}), {known.kind}"
    facts = (
        ("vendor", known.vendor),
        ("part", known.part),
        ("serial", known.serial),
        ("date code and lot", known.lot),
        ("firmware", known.firmware),
        ("media", known.media),
        ("connector", known.connector),
    )
    yield from table([[name, text or "(does not say)"] for name, text in facts])
    for name in STATE:
        for one in module.named(name):
            yield f"  {name.replace('_', ' ')}: {told(one)}"
    if known.kind in UNKNOWABLE:
        yield f"  a module of kind {known.kind} is {UNKNOWABLE[known.kind]}"


def _capabilities(module: SeenModule) -> Iterator[str]:
    rows = [
        [one.cell.field.name.replace("_", " "), _yes_or(one)]
        for one in module.values
        if one.cell.field.name in CAPABILITIES and not one.cell.lane and not _is_no_reach(one)
    ]
    yield from table(rows)


def _is_no_reach(one: Told) -> bool:
    """Return whether it is a length of 0: this medium is not meant, or it does not say."""
    return "length_" in f"{one.cell.field.name}_" and one.value in {0.0, ""}


def _yes_or(one: Told) -> str:
    row = one.cell.field
    if row.width == 1 and row.codes is None and row.size == 1 and isinstance(one.value, float):
        return "yes" if one.value else "no"
    return told(one)


def _applications(module: SeenModule) -> Iterator[str]:
    if module.presence.standard.name != CMIS:
        return
    active = {int(one.value) for one in module.named("active_application")
              if isinstance(one.value, float)}  # fmt: skip
    media = codes.MEDIA_INTERFACES.get(module.memory.byte("", 85), {})
    rows = []
    for number_, host_lanes, media_lanes, host, starts in applications(module.memory):
        page, at = ("", 86 + 4 * (number_ - 1)) if number_ < 9 else ("01", 223 + 4 * (number_ - 9))
        host_id, media_id = module.memory.byte(page, at), module.memory.byte(page, at + 1)
        rows.append(
            [
                f"{number_}{'*' if number_ in active else ''}",
                _interface(codes.HOST_INTERFACES, host_id),
                f"{host_lanes} host lanes from {_starts(host)}",
                _interface(media, media_id),
                f"{media_lanes} media lanes from {_starts(starts)}",
            ]
        )
    yield from table(rows)


def _interface(names: Mapping[int, str], code: int) -> str:
    unnamed = "the vendor's own" if code >= CUSTOM_INTERFACE else "unknown"
    return f"{names.get(code, unnamed)} ({code:02x}h)"


def _starts(bitmap: int) -> str:
    return ", ".join(str(lane + 1) for lane in range(8) if bitmap >> lane & 1) or "(not said)"


def _flags(module: SeenModule) -> Iterator[str]:
    raised: dict[str, list[int]] = {}
    known = 0
    for one in module.values:
        row = one.cell.field
        if row.width == 1 and row.says.startswith("Latched"):
            known += 1
            if one.value == 1.0:
                raised.setdefault(row.name, []).append(one.cell.lane)
    if not known:
        return
    for name, lanes in raised.items():
        where = f" on lanes {runs(lanes)}" if any(lanes) else ""
        yield f"  {name.removeprefix('vdm_').replace('_', ' ')}{where}"
    yield f"  ({known} flags looked at, {sum(map(len, raised.values()))} raised)"


def _absent(module: SeenModule) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[Absent]] = {}
    for one in module.presence.absent:
        reasons.setdefault((one.why, one.place), []).append(one)
    for (why, place), rows in reasons.items():
        names = list(dict.fromkeys(_short(one.field.name) for one in rows))
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        said = f" ({place})" if place else ""
        yield f"  {why}{said}: {', '.join(names[:MOST_NAMES])}{more}"
    missing = module.memory.byte("00", 210) if module.presence.standard.name == CMIS else 0
    if 0 < missing < 0xFF:
        lanes = [lane + 1 for lane in range(8) if missing >> lane & 1]
        yield f"  media lanes that do not exist (00h:210): {runs(lanes)}"


def _short(name: str) -> str:
    for bound, level_ in BOUNDS:
        name = name.removesuffix(f"_{bound}_{level_}_limit").removesuffix(f"_{bound}_{level_}")
    return name.removeprefix("vdm_").replace("_", " ")


def _wrong(module: SeenModule) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for page, why in module.presence.unusable.items():
        reasons.setdefault(why, []).append(f"{page}h")
    for why, pages in reasons.items():
        yield f"  page {', '.join(pages)} {why}"
    for checksum in module.presence.standard.checksums:
        if checksum.page not in module.presence.unusable and module.memory.has(checksum.page):
            stated, found = checksum.stated(module.memory)
            if stated != found:
                yield (
                    f"  checksum {checksum.place} says {stated:02x}h, the bytes add up to "
                    f"{found:02x}h; values are shown all the same"
                )
    for kind, count in sorted(module.presence.unknown.items()):
        yield f"  {count} observables of type {kind}, which is not known (vendor's own)"
