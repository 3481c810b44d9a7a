"""What `ethtool` prints for people: statistics, settings, driver, FEC and pause.

Lines are `label: value`. Which command printed them is told by their labels.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from collectors.protocols.ethtool_netlink import Fec, LinkModes, Pause

HEADER = "NIC statistics:"
MOST = 1 << 64


@dataclass(frozen=True, slots=True)
class Statistics:
    """`ethtool -S`: values by name as it stands; names of indented parts follow their heading.

    A name that stands twice in one place with two values is in `twice` and nowhere else.
    """

    values: Mapping[str, int]
    twice: tuple[str, ...] = ()
    malformed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """`ethtool IF`: speed and lanes, and whether there is a link (None: not said)."""

    interface: str
    modes: LinkModes = field(default_factory=LinkModes)
    up: bool | None = None


@dataclass(frozen=True, slots=True)
class DriverInfo:
    """`ethtool -i`."""

    driver: str
    firmware: str = ""
    bus: str = ""


def statistics(text: str) -> Statistics | None:
    """Read `ethtool -S`; None where it is something else.

    Names may hold colons, brackets, dots and spaces: a line is split at its last colon. Lines
    that are indented further than one before belong to it, so that queues are not mixed.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    headed = bool(lines) and lines[0].strip().endswith(HEADER)
    lines = lines[1:] if headed else lines
    parsed = list(_named_numbers(lines))
    numbers = [value for _, value in parsed if value is not None]
    if not headed and (len(numbers) < 3 or len(numbers) < len(parsed)):
        return None
    values: dict[str, int] = {}
    twice: dict[str, None] = {}
    malformed = []
    for name, value in parsed:
        if value is None:
            malformed.append(name)
        elif values.setdefault(name, value) != value:
            twice[name] = None
    for name in twice:
        del values[name]
    return Statistics(values, tuple(twice), tuple(malformed))


def _named_numbers(lines: list[str]) -> Iterator[tuple[str, int | None]]:
    """Yield (name, value) of each line; value None where there is no unsigned number."""
    above: list[tuple[int, str]] = []  # (indentation, line) of those that this one is within
    depths = [len(line) - len(line.lstrip()) for line in lines]
    for number, line in enumerate(lines):
        depth, text = depths[number], line.strip()
        while above and above[-1][0] >= depth:
            above.pop()
        if number + 1 < len(lines) and depths[number + 1] > depth:
            above.append((depth, text))  # a heading, not a value
            continue
        name, _, digits = text.rpartition(":")
        heading = " / ".join(part for _, part in above)
        whole = f"{heading} / {name.strip()}" if heading else name.strip()
        digits = digits.strip()
        known = bool(name) and digits.isascii() and digits.isdigit() and len(digits) <= 20
        value = int(digits) if known else MOST
        yield (whole, value) if value < MOST else (text, None)


def named(text: str) -> str:
    """Return the interface that a text is about, where it says so."""
    patterns = (
        r"^Settings for ([^\s:]+):",
        r"^(?:FEC parameters|Pause parameters|FEC statistics) for ([^\s:]+):",
        r"^# ethtool (?:-\S+ )*(\S+)\s*$",
    )
    for pattern in patterns:
        if found := re.search(pattern, text, re.MULTILINE):
            return found[1]
    return ""


def pairs(text: str) -> dict[str, list[str]]:
    """Return `label: value` lines by label in lower case, values in order."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        label, mark, value = line.strip().partition(":")
        if mark:
            found.setdefault(label.strip().lower(), []).append(value.strip())
    return found


def settings(text: str) -> Settings | None:
    """Read `ethtool IF`: `Speed: 10000Mb/s`, `Lanes: 4`, `Link detected: yes`."""
    if not re.search(r"^Settings for \S+:", text, re.MULTILINE):
        return None
    said = pairs(text)
    speed = re.fullmatch(r"(\d{1,9})Mb/s", _first(said, "speed"))
    lanes = re.fullmatch(r"\d{1,3}", _first(said, "lanes"))
    link = {"yes": True, "no": False}.get(_first(said, "link detected").split(" ")[0])
    modes = LinkModes(
        int(speed[1]) * 1e6 if speed and int(speed[1]) else None,
        int(lanes[0]) if lanes and int(lanes[0]) else None,
    )
    return Settings(named(text), modes, link)


def driver(text: str) -> DriverInfo | None:
    """Read `ethtool -i`."""
    said = pairs(text)
    if "driver" not in said or "bus-info" not in said:
        return None
    return DriverInfo(said["driver"][0], _first(said, "firmware-version"), said["bus-info"][0])


def pause(text: str) -> Pause | None:
    """Read `ethtool -I -a`: `tx_pause_frames: 3`, `rx_pause_frames: 2`; absent ones are unset."""
    if not re.search(r"^Pause parameters for ", text, re.MULTILINE):
        return None
    said = pairs(text)
    return Pause(_integer(said, "tx_pause_frames"), _integer(said, "rx_pause_frames"))


def fec(text: str) -> Fec | None:
    """Read `ethtool -I --show-fec`: totals, and bins `fec_symbols_err_1_to_3: n`.

    Per-lane values follow their total, on lines or in brackets; they are not totals.
    """
    if not re.search(r"^FEC (?:parameters|statistics) for ", text, re.MULTILINE):
        return None
    said = pairs(text)
    bins = {}
    for label, values in said.items():
        found = re.fullmatch(r"fec_symbols?_err_(\d{1,3})(?:_to_(\d{1,3}))?", label)
        number = re.match(r"\d{1,20}", values[0])
        if found and number:
            bins[int(found[1]), int(found[2] or found[1])] = int(number[0])
    active = _first(said, "active fec encoding") or _first(said, "active fec encodings")
    return Fec(
        fec_mode(active.split(" ")[0]),
        _integer(said, "corrected_blocks"),
        _integer(said, "uncorrectable_blocks"),
        _integer(said, "corrected_bits"),
        bins,
    )


def fec_mode(name: str) -> str | None:
    """Return the kernel's name of a FEC mode: none, rs, baser or llrs; None if it is another."""
    name = name.casefold()
    known = {"none": "none", "off": "none", "rs": "rs", "baser": "baser", "llrs": "llrs"}
    return known.get(name)


def _first(said: Mapping[str, list[str]], label: str) -> str:
    return said.get(label, [""])[0]


def _integer(said: Mapping[str, list[str]], label: str) -> int | None:
    found = re.match(r"\d{1,20}", _first(said, label))
    return int(found[0]) if found else None
