"""hccn_tool: the network side of Ascend NPUs, one question a call (Huawei, product documents).

A capture may hold many calls behind each other, each below the line that made it; the output of one
call alone says no device. Keys and values are `key: value unit` in several spellings; masks are
hexadecimal, a bit a lane. `not supported`, `NA` and `unknown` are no value.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from collectors.protocols.lldp_tlvs import Facing, facing
from collectors.protocols.module import Identity, Limit, Module, Signal, Value

NO_VALUE = {"na", "n/a", "not supported", "unknown", "none", "", "-", "not support"}

_CALL = re.compile(r"(?:\S*[#$>] ?)?(?:\S*/)?hccn_tool (?P<words>.*)")
_OTHER = re.compile(r"(?:\S*[#$>] ?)?(?:/\S+/)?(?:npu-smi|lspci|cat|ls|dmesg|ifconfig|ip) ?.*")
_PAIR = re.compile(
    r"(?:\[dev(?:id|ice) (?P<device>\d{1,4})\])?\s*"
    r"(?P<key>[A-Za-z][\w /()-]{0,60}?)\s*:\s*(?P<value>.*)"
)
_NUMBER = re.compile(r"(-?\d{1,20}(?:\.\d{1,9})?)\s*([A-Za-z/%]*)")
_CHANGE = re.compile(
    r"(?:\[dev(?:id|ice) \d{1,4}\])?\s*[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ .* LINK (?:UP|DOWN)"
)

UNITS = {
    "mw": 1e-3, "uw": 1e-6, "mv": 1e-3, "v": 1.0, "ma": 1e-3, "ua": 1e-6, "c": 1.0, "db": 1.0,
    "mb/s": 1e6, "gb/s": 1e9, "mb/sec": 1e6, "gb/sec": 1e9, "": 1.0,
}  # fmt: skip
"""By unit in lower case; Mb/s of a link's speed and MB/s of its load are told apart by the key."""

LANE_MONITORS = (
    (re.compile(r"tx power ?(\d)"), "tx_power"),
    (re.compile(r"rx power ?(\d)"), "rx_power"),
    (re.compile(r"tx bias ?(\d)"), "tx_bias"),
)
MODULE_MONITORS = {"temperature": "temperature", "vcc": "supply_voltage"}
LIMITS = {
    "vcc high thres": ("supply_voltage", "high"),
    "vcc low thres": ("supply_voltage", "low"),
    "temp high thres": ("temperature", "high"),
    "temp low thres": ("temperature", "low"),
    "txpower high thres": ("tx_power", "high"),
    "txpower low thres": ("tx_power", "low"),
    "rxpower high thres": ("rx_power", "high"),
    "rxpower low thres": ("rx_power", "low"),
}
FLAGS = {
    "tx los flag": "tx_los",
    "rx los flag": "rx_los",
    "tx lol flag": "tx_lol",
    "rx lol flag": "rx_lol",
}
_SNR = re.compile(r"(host|media) snr lane ?(\d)")


@dataclass(frozen=True, slots=True)
class Snr:
    """Signal to noise in dB of one lane (1..), as seen from the medium or from the host."""

    side: str
    lane: int
    db: float


@dataclass(frozen=True, slots=True)
class UbPort:
    """A row of `-dev_info`; speed in bit/s."""

    die: str
    port: str
    kind: str
    up: bool | None
    speed: float | None
    medium: str


@dataclass(slots=True)
class Answer:
    """What one NPU (or one port of it) says, gathered over calls; None is not said."""

    npu: str = ""
    die: str = ""
    port: str = ""
    up: bool | None = None
    speed: float | None = None
    ups: int | None = None
    statistics: dict[str, int] = field(default_factory=dict)
    module: Module | None = None
    snr: list[Snr] = field(default_factory=list)
    present: bool | None = None
    fec: str | None = None
    net_health: str | None = None
    tx_rate: float | None = None
    """Bytes per second."""
    rx_rate: float | None = None
    ports: list[UbPort] = field(default_factory=list)
    facing: Facing | None = None
    at: float | None = None
    unsupported: list[tuple[str, str]] = field(default_factory=list)
    malformed: list[tuple[str, str]] = field(default_factory=list)

    @property
    def says_something(self) -> bool:
        """Whether any question was answered."""
        known = (self.up, self.speed, self.ups, self.module, self.fec, self.net_health, self.facing)
        rates = (self.tx_rate, self.rx_rate)
        return any(one is not None for one in (*known, *rates)) or bool(
            self.statistics or self.ports or self.snr or self.unsupported
        )


def answers(text: str) -> list[Answer]:
    """Read one call's output or many; nothing where it is something else."""
    found: dict[tuple[str, str, str], Answer] = {}
    for key, lines in _calls(text):
        answer = found.setdefault(key, Answer(*key))
        _read(answer, lines)
    return [answer for answer in found.values() if answer.says_something]


def _calls(text: str) -> list[tuple[tuple[str, str, str], list[str]]]:
    """Return (NPU, die, port) and the lines of each call; other tools' output is left out."""
    calls: list[tuple[tuple[str, str, str], list[str]]] = [(("", "", ""), [])]
    for raw in text.splitlines():
        line = raw[:2000].rstrip()
        if call := _CALL.fullmatch(line.strip()):
            words = call["words"]
            calls.append(((_option(words, "i"), _option(words, "u"), _option(words, "p")), []))
        elif _OTHER.fullmatch(line.strip()):
            calls.append((("", "", ""), []))
            calls[-1][1].append("another tool")
        else:
            calls[-1][1].append(line)
    return [(key, lines) for key, lines in calls if lines[:1] != ["another tool"]]


def _option(words: str, letter: str) -> str:
    found = re.search(rf"(?:^|\s)-{letter} (\d{{1,4}})(?:\s|$)", words)
    return found[1] if found else ""


def _read(answer: Answer, lines: list[str]) -> None:
    if (heard := facing(lines)) is not None:
        answer.facing = heard
        return
    optical: dict[str, str] = {}
    for line in lines:
        if line.lstrip().startswith("|"):
            _row(answer, line)
            continue
        if _CHANGE.fullmatch(line.strip()):
            continue
        pair = _PAIR.fullmatch(line.strip())
        if pair is None:
            continue
        if pair["device"] and not answer.npu:
            answer.npu = pair["device"]
        key, value = " ".join(pair["key"].casefold().split()), pair["value"].strip()
        if not _plain(answer, key, value):
            optical.setdefault(key, value)
    _optical(answer, optical)


def _plain(answer: Answer, key: str, value: str) -> bool:  # noqa: C901, PLR0912 - a table of keys
    """Take a pair that stands for itself; return whether it did."""
    if key == "link status":
        answer.up = {"up": True, "down": False}.get(value.casefold())
        if answer.up is None:
            _refuse(answer, key, value)
    elif key == "speed":
        speed = re.fullmatch(r"(\d{1,9}) ?Mb/s", value)
        if speed:
            answer.speed = float(speed[1]) * 1e6
        else:
            _refuse(answer, key, value)
    elif key == "link up count":
        if re.fullmatch(r"\d{1,18}", value):
            answer.ups = int(value)
        else:
            _refuse(answer, key, value)
    elif key == "current time":
        answer.at = _time(value)
    elif key == "fec mode":
        answer.fec = value.casefold()
    elif key == "net health status":
        answer.net_health = value.casefold()
    elif key in {"bandwidth tx", "bandwidth rx"}:
        rate = _si(value)
        if rate is None:
            _refuse(answer, key, value)
        elif key.endswith("tx"):
            answer.tx_rate = rate
        else:
            answer.rx_rate = rate
    elif re.fullmatch(r"(?:mac|roce|nic|ub)_\w{1,60}", key):
        if re.fullmatch(r"\d{1,20}", value) and int(value) < 1 << 64:
            answer.statistics[key] = int(value)
        else:
            _refuse(answer, key, value)
    else:
        return False
    return True


def _refuse(answer: Answer, key: str, value: str) -> None:
    where = answer.unsupported if value.casefold() in NO_VALUE else answer.malformed
    where.append((key, value[:80]))


def _si(text: str) -> float | None:
    found = _NUMBER.fullmatch(text)
    scale = UNITS.get(found[2].casefold()) if found else None
    return float(found[1]) * scale if found and scale is not None else None


def _time(text: str) -> float | None:
    try:
        return datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None


_HEADER = ["udieid", "portid", "speed", "porttype", "linkstatus", "mediatype"]


def _row(answer: Answer, line: str) -> None:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if [cell.casefold() for cell in cells][:2] == _HEADER[:2] or len(cells) != len(_HEADER):
        return
    die, port, speed, kind, status, medium = cells
    if not (re.fullmatch(r"\d{1,3}", die) and re.fullmatch(r"\d{1,3}", port)):
        return
    answer.ports.append(
        UbPort(
            die,
            port,
            kind.casefold(),
            {"UP": True, "DOWN": False}.get(status.upper()),
            float(speed) * 1e9 if re.fullmatch(r"\d{1,5}", speed) else None,
            medium.casefold(),
        )
    )


def _optical(answer: Answer, said: Mapping[str, str]) -> None:
    """Take what a module tells; a text without a single of its keys has none."""
    values, limits = _monitors(answer, said)
    lanes = sorted({value.lane for value in values if value.quantity == "rx_power"})
    signals = []
    for key, name in FLAGS.items():
        word = said.get(key)
        mask = re.fullmatch(r"0x([0-9a-fA-F]{1,4})", word) if word is not None else None
        if mask is not None:
            bits = int(mask[1], 16)
            signals += [Signal(name, lane, bool(bits >> (lane - 1) & 1)) for lane in lanes]
        elif word is not None:
            _refuse(answer, key, word)
    for key, word in said.items():
        if snr := _SNR.fullmatch(key):
            number = _si(word)
            if number is None:
                _refuse(answer, key, word)
            else:
                answer.snr.append(Snr(snr[1], int(snr[2]) + 1, number))
    if "present" in said:
        answer.present = said["present"].casefold() == "present"
    identity = Identity(
        said.get("vendor name", ""),
        said.get("vendor part number", ""),
        said.get("vendor serial number", ""),
        said.get("manufact date code", ""),
        kind="pluggable" if values else "",
    )
    if values or identity.vendor:
        answer.module = Module(identity, tuple(values), tuple(limits), (), tuple(signals))


def _monitors(answer: Answer, said: Mapping[str, str]) -> tuple[list[Value], list[Limit]]:
    values: list[Value] = []
    limits: list[Limit] = []
    for key, word in said.items():
        quantity, lane = MODULE_MONITORS.get(key, ""), 0
        for pattern, name in LANE_MONITORS:
            if found := pattern.fullmatch(key):
                quantity, lane = name, int(found[1]) + 1
        bound = LIMITS.get(key)
        if not quantity and bound is None:
            continue
        number = _si(word)
        if number is None:
            _refuse(answer, key, word)
        elif bound is not None:
            limits.append(Limit(bound[0], bound[1], "alarm", number))
        else:
            values.append(Value(quantity, lane, number))
    return values, limits
