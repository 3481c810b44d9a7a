"""Register maps: files that say what registers of a Modbus device are in the catalogue.

One YAML file per device under `collectors/maps/registers`, or a site's own. A map is checked when
it is read, so that a wrong address, unit, metric or label is an error with file and line, and
never a number that nobody finds.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from collectors.maps import quantities
from collectors.maps.quantities import MEASURES
from collectors.maps.register_schema import Entry, RegisterFile, faults, kind_of, unit_of
from collectors.protocols.modbus_registers import NOTHING, Register
from fabrichealth.errors import SiteError
from fabrichealth.metric import Kind, Metric
from fabrichealth.yamlfile import Loc, YamlFile, load

FOLDER = Path(__file__).parent / "registers"


@dataclass(frozen=True)
class Mapped:
    """A register, and what it is in the catalogue."""

    name: str
    register: Register
    metric: Metric
    labels: Mapping[str, str]
    """Those that do not follow from the target; absent ones are empty."""
    side: str
    inlet: str
    shown: str
    """Where it lies, as the vendor prints it."""
    most: float = 0.0
    """Raw steps that a counter can rise by in a second; 0: where it falls it was restarted."""

    @property
    def bits(self) -> int:
        """Bits of the register."""
        return 16 * self.register.width


@dataclass(frozen=True)
class RegisterMap:
    """A map that was checked."""

    name: str
    about: str
    unit_id: int
    longest: int
    bridge: int
    entries: tuple[Mapped, ...]


def names() -> tuple[str, ...]:
    """Return the names of the maps that are shipped."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.yaml")))


def find(said: str) -> Path:
    """Return the file of a map, given by a shipped name or a path.

    Raises:
        SiteError: there is none of that name.
    """
    if "/" not in said and not said.endswith((".yaml", ".yml")):
        if said not in names():
            known = ", ".join(names())
            raise SiteError(f"no register map named {said}; there are {known}, or give a file")
        return FOLDER / f"{said}.yaml"
    return Path(said)


def read(path: Path) -> RegisterMap:
    """Read a map; a file that did not change since is not read again.

    Raises:
        SiteError: it is wrong; the message says where.
    """
    try:
        stat = path.stat()
    except OSError as wrong:
        raise SiteError(f"{path}: cannot be read ({wrong.strerror}); check the path") from None
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=64)
def _read(path: Path, _modified: int, _size: int) -> RegisterMap:
    file = load(path)
    given = file.validated(RegisterFile, file.value)
    entries = tuple(
        _mapped(file, ("registers", index), given, entry)
        for index, entry in enumerate(given.registers)
    )
    _check_distinct(file, entries)
    return RegisterMap(path.stem, given.about, given.unit_id, given.longest, given.bridge, entries)


def _mapped(file: YamlFile, loc: Loc, given: RegisterFile, entry: Entry) -> Mapped:
    """Return an entry as the decoder and the catalogue take it."""
    for key, what in faults(given, entry):
        raise file.error((*loc, key) if key else loc, f"{entry.name}: {what}")
    function = entry.function or given.function
    kind = kind_of(given, entry)
    measure = MEASURES[unit_of(entry)]
    worth = quantities.step(measure, entry.scale)
    low, high = entry.range_in(measure)
    nothing = () if entry.bit is not None or entry.meanings else NOTHING.get(kind, ())
    if entry.to.kind is Kind.COUNTER:
        nothing = nothing[:1]
    register = Register(
        function,
        entry.address - given.base,
        kind,
        entry.word_order or given.word_order,
        entry.byte_order or given.byte_order,
        entry.bit,
        nothing if entry.sentinels is None else entry.sentinels,
        tuple((float(said), means) for said, means in entry.meanings.items()),
        worth.times,
        worth.over,
        worth.offset,
        low,
        high,
    )
    labels = {label: str(text) for label, text in entry.labels.items()}
    shown = f"{entry.address} ({TABLE[function]})"
    most = entry.most / float(entry.scale) / 3600.0
    return Mapped(entry.name, register, entry.to, labels, entry.side, str(entry.inlet), shown, most)


TABLE = {1: "coil", 2: "discrete input", 3: "holding register", 4: "input register"}


def _check_distinct(file: YamlFile, entries: tuple[Mapped, ...]) -> None:
    """Refuse two entries of one name, or of one series."""
    often = Counter(one.name for one in entries)
    seen: dict[object, str] = {}
    for index, one in enumerate(entries):
        loc = ("registers", index)
        if often[one.name] > 1 and one.name in seen.values():
            raise file.error((*loc, "name"), f"{one.name} is there already; give another name")
        key = (one.metric, tuple(sorted(one.labels.items())), one.side, one.inlet)
        if key in seen:
            raise file.error(loc, f"{one.name}: the same series as {seen[key]}; give other labels")
        seen[key] = one.name
    _check_apart(file, entries)


def _check_apart(file: YamlFile, entries: tuple[Mapped, ...]) -> None:
    """Refuse numbers that share a part of their registers; the same ones may be read twice.

    A word of bits may be read as a whole and bit by bit.
    """
    numbers = [n for n, one in enumerate(entries) if one.register.bit is None]
    numbers.sort(key=lambda n: (entries[n].register.function, entries[n].register.address, n))
    widest: Mapped | None = None
    for index in numbers:
        one = entries[index]
        here = one.register
        if widest is not None and widest.register.function == here.function:
            there = widest.register
            end = there.address + there.width
            same = (there.address, there.width) == (here.address, here.width)
            if here.address < end and not same:
                raise file.error(
                    ("registers", index),
                    f"{one.name}: {here.type} at {one.shown} overlaps {widest.name}, {there.type} "
                    f"at {widest.shown}; correct an address or a type",
                )
            if here.address + here.width <= end:
                continue
        widest = one
