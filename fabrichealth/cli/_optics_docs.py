"""The reference of optical modules: every field of every memory map, told by the maps."""

from collections.abc import Iterable, Iterator, Sequence

from collectors.protocols.module import CMIS, QSFP, SFP
from collectors.protocols.optics.cmis_vdm import CUSTOM, OBSERVABLES, Observable
from collectors.protocols.optics.field import Field, Form, Per
from collectors.protocols.optics.identity import UNKNOWABLE
from collectors.protocols.optics.standard import STANDARDS, Standard

TITLES = {SFP: "SFP (SFF-8472)", QSFP: "QSFP+, QSFP28 (SFF-8636)", CMIS: "CMIS, C-CMIS, ELSFP"}
HEAD = ("field", "bytes", "coded", "unit", "of each", "there by", "specification", "meaning")

PREFACE = """\
# Optical modules

Every field that is read of a module's memory: where it lies, how it is coded, when it is there, and
which specification says so. `fabrichealth read eeprom FILE|INTERFACE` shows a module; with
`--explain` each value has its page, bytes, raw number and specification.

Bytes are counted 0 to 255 as the specifications do: `lower` is the lower memory, `11h:154` lies on
page 11h, `A2h:96` at an SFP's second address. A field that is not advertised is absent, never 0.
`there by` names the bits that decide whether it is there. Numbers are big-endian unless said
otherwise; f16 is `m x 10^(e - 24)`, five bits of e and eleven of m. A page whose content repeats
page 00h, or is FFh throughout, is none.
"""


def page() -> str:
    """Return the page's text."""
    text = PREFACE
    for name, standard in STANDARDS.items():
        text += f"\n## {TITLES[name]}\n"
        for number, says, rows in _pages(standard):
            text += f"\n### {number}\n\n{says}\n\n" + table(HEAD, map(_row, rows))
    text += "\n## Observables of versatile diagnostics (VDM)\n\n"
    text += (
        "Descriptors on pages 20h to 23h say which observables a module has, of which lane. The "
        "sample of a descriptor lies four pages further at the same index, its limits four further "
        f"again, its flags on page 2Ch. Types {CUSTOM.start} to {CUSTOM.stop - 1} are a vendor's "
        "own and are counted as unsupported.\n\n"
    )
    head = ("type", "observable", "side", "coded", "unit", "taken as")
    text += table(head, (_observable(*one) for one in OBSERVABLES.items()))
    text += "\n## What a kind of module cannot tell\n\n"
    return text + table(("kind", "why"), UNKNOWABLE.items())


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _pages(standard: Standard) -> Iterator[tuple[str, str, list[Field]]]:
    """Yield title, meaning and rows of each page; rows of descriptors are none of a page."""
    for one in standard.pages:
        rows = [row for row in standard.fields if row.page == one.name]
        if rows:
            title = "Lower memory" if not one.name else f"Page {one.name}h"
            if one.name == "a2":
                title = "Address A2h"
            each = " Each bank of eight lanes has its own." if one.banked else ""
            gates = "; ".join(f"`{gate.place}`, else {gate.why}" for gate in one.gates)
            when = f" There when {gates}." if gates else ""
            moves = " Read at each visit." if one.changes else " Read once a module."
            yield title, f"{one.says}{each}{when}{moves}", rows


def _row(row: Field) -> tuple[str, ...]:
    return (
        row.name,
        f"`{row.place}`",
        _coded(row.form, row.size, row.width, row.scale)
        + (", little-endian" if row.little else ""),
        row.unit,
        "" if row.per is Per.MODULE or not row.lanes else row.per.value,
        "; ".join(f"`{gate.place}`" for gate in row.gates),
        row.spec,
        row.says,
    )


def _coded(form: Form, size: int, width: int, scale: float) -> str:
    if form in {Form.TEXT, Form.OCTETS}:
        return f"{size} x {'ASCII' if form is Form.TEXT else 'byte'}"
    if form in {Form.F16, Form.FLOAT}:
        return form.value
    bits = f"{'s' if form is Form.SIGNED else 'u'}{width if size == 1 else 8 * size}"
    return bits if scale == 1.0 else f"{bits} x {scale:.6g}"


def _observable(number: int, kind: Observable) -> tuple[str, ...]:
    coded = _coded(kind.form, 2, 16, kind.scale)
    taken = f"{kind.quantity}" if kind.quantity else ""
    return str(number), kind.name, kind.side, coded, kind.unit, taken
