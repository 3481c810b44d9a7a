"""mlxlink (mstflint): a port's link, counters, bit error ratios, FEC histogram and module.

Text (`Section`, a rule, `Key : value`) and JSON (`{"status": .., "result": {"output": ..}}`) become
the same pairs of key and words. All values are words: a bit error ratio is `<coefficient>E-
<magnitude>`, and `15E-255` says that nothing was measured, not that it was perfect.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from collectors.protocols.ib_links import LANE
from collectors.protocols.mlxlink_module import NOTHING, Pairs, module, one, split
from collectors.protocols.module import Module
from fabrichealth.errors import MalformedReply

LEAST = 1e-250
"""Smaller ratios are the mark for nothing in another spelling (`1.5E-254`)."""

_PAIR = re.compile(r"\s*([^:]{1,80}?)\s*: ?\s*(.*)")
_RATIO = re.compile(r"\d{1,6}(?:\.\d{1,9})?[Ee]-\d{1,3}|0(?:\.0+)?")
_UNITS = re.compile(r"\s*\[[^\]]{1,12}\]\s*$")


@dataclass(frozen=True, slots=True)
class Link:
    """What one call says. `refused` are keys whose words are no value: why, key, words."""

    up: bool | None = None
    enabled: bool | None = None
    speed: float | None = None
    """bit/s."""
    lanes: int | None = None
    fec: str = ""
    infiniband: bool = False
    counts: Mapping[str, int] = field(default_factory=dict)
    """By key, in lower case."""
    ratios: Mapping[str, float] = field(default_factory=dict)
    lane_errors: tuple[int | None, ...] = ()
    lane_ratios: tuple[float | None, ...] = ()
    histogram: Mapping[int, int] = field(default_factory=dict)
    """Codewords by the number of symbol errors in them."""
    module: Module | None = None
    unmeasured: tuple[tuple[str, str], ...] = ()
    """Keys that say that there is nothing, and how they say it."""
    malformed: tuple[tuple[str, str], ...] = ()
    complaint: str = ""
    """The tool's own error; useful output may stand beside it."""


COUNTS = (
    "symbol errors",
    "effective physical errors",
    "link down counter",
    "link error recovery counter",
)
RATIOS = ("symbol ber", "effective physical ber", "raw physical ber")

_TELLING = {"state", "physical state", "raw physical ber", "symbol errors", "vendor part number"}


def link(text: str) -> Link | None:
    """Read mlxlink's output in either form; None where it is something else.

    Raises:
        MalformedReply: JSON that is none of mlxlink's.
    """
    if text.lstrip()[:1] in {"{", "["}:
        pairs, complaint = _json(text)
        if pairs is None:
            return None
    else:
        pairs, complaint = _text(text), ""
        error = re.search(r"^-E- (.*)$", text, re.MULTILINE)
        if error:
            complaint = error[1][:200]
    if not complaint and _TELLING.isdisjoint(pairs):
        return None
    return _decoded(pairs, complaint)


def _key(words: str) -> str:
    return _UNITS.sub("", words).strip().casefold()


def _text(text: str) -> Pairs:
    pairs: Pairs = {}
    for line in text.splitlines():
        found = _PAIR.fullmatch(line[:2000])
        if found:
            pairs.setdefault(_key(found[1]), [found[2].strip()])
    return pairs


def _json(text: str) -> tuple[Pairs | None, str]:
    try:
        plain = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise MalformedReply("JSON that ends in the middle, or none") from None
    if not isinstance(plain, dict) or not isinstance(plain.get("result"), dict):
        return None, ""
    output, status = plain["result"].get("output"), plain.get("status")
    complaint = ""
    if isinstance(status, dict) and status.get("code") not in {0, None}:
        complaint = str(status.get("message", "an error without a message"))[:200]
    if not isinstance(output, dict):
        return ({}, complaint) if complaint else (None, "")
    pairs: Pairs = {}
    for section in output.values():
        for key, said in section.items() if isinstance(section, dict) else ():
            pairs.setdefault(_key(str(key)), _words(said))
    return pairs, complaint


def _words(said: Any) -> list[str]:
    if isinstance(said, dict):
        said = said.get("values", [])
    if isinstance(said, list):
        return [str(one).strip() for one in said]
    return [str(said).strip()]


def _decoded(pairs: Pairs, complaint: str) -> Link:
    unmeasured: list[tuple[str, str]] = []
    malformed: list[tuple[str, str]] = []

    def number(key: str, form: re.Pattern[str]) -> str | None:
        words = pairs.get(key)
        if words is None:
            return None
        word = words[0] if words else ""
        if nothing(word):
            unmeasured.append((key, word))
        elif form.fullmatch(word):
            return word
        else:
            malformed.append((key, word[:80]))
        return None

    counts = {key: int(word) for key in COUNTS if (word := number(key, re.compile(r"\d{1,20}")))}
    ratios = {key: float(word) for key in RATIOS if (word := number(key, _RATIO))}
    state = one(pairs, "state")
    width = re.fullmatch(r"(\d{1,2})x", one(pairs, "width").casefold())
    lanes = int(width[1]) if width else None
    speed, infiniband = _speed(one(pairs, "speed"), lanes)
    up = None if state.casefold() in NOTHING else state.casefold() in {"active", "linkup"}
    physical = one(pairs, "physical state").casefold()
    return Link(
        up=up,
        enabled=None if physical in NOTHING else not physical.startswith("disable"),
        speed=speed if up is not False else None,
        lanes=lanes if up is not False else None,
        fec=fec_name(one(pairs, "fec")),
        infiniband=infiniband,
        counts=counts,
        ratios=ratios,
        lane_errors=tuple(_counts(pairs.get("raw physical errors per lane", []))),
        lane_ratios=tuple(_ratios(pairs.get("raw physical ber per lane", []))),
        histogram=_histogram(pairs),
        module=module(pairs),
        unmeasured=tuple(unmeasured),
        malformed=tuple(malformed),
        complaint=complaint,
    )


def _speed(text: str, lanes: int | None) -> tuple[float | None, bool]:
    """Return bit/s, and whether the port speaks InfiniBand: `IB-NDR`, `400G_4X`, `100GbE`."""
    if found := re.fullmatch(r"IB-([A-Z]{3}(?:10)?)", text):
        rate = LANE.get(found[1])
        return (rate * lanes if rate and lanes else None), True
    if found := re.match(r"(\d{1,4}(?:\.\d)?)G", text):
        return float(found[1]) * 1e9, False
    return None, False


def nothing(word: str) -> bool:
    """Return whether a value says that there is none; no line is old enough for 1E-250."""
    small = _RATIO.fullmatch(word) and 0 < float(word) < LEAST
    return bool(small) or word.casefold() in NOTHING


def fec_name(text: str) -> str:
    """Return the topology's name of a FEC: `RS-FEC - (544,514) + PLR` is rs544."""
    low = text.casefold().replace(" ", "")
    if "nofec" in low:
        return "none"
    if "fire" in low:
        return "firecode"
    found = re.search(r"\((\d{3}),\d{3}", low)
    code = found[1] if found else ""
    if code in {"528", "544"}:
        return f"rs{code}" + ("i" if code == "544" and "interleaved" in low else "")
    return f"ll{code}" if code in {"271", "272"} else ""


def _counts(words: list[str]) -> Iterator[int | None]:
    for word in split(words) if words else ():
        yield int(word) if re.fullmatch(r"\d{1,20}", word) else None


def _ratios(words: list[str]) -> Iterator[float | None]:
    for word in split(words) if words else ():
        measured = _RATIO.fullmatch(word) and not nothing(word)
        yield float(word) if measured else None


def _histogram(pairs: Pairs) -> dict[int, int]:
    """Read `Bin 3 : [3] 17`: bins of one number of errors alone, since wider ones are no bin."""
    found: dict[int, int] = {}
    for key, words in pairs.items():
        if not re.fullmatch(r"bin \d{1,2}", key):
            continue
        row = re.fullmatch(r"\[?(\d{1,2})(?:[:-](\d{1,2}))?\]?\s+(\d{1,20})", " ".join(words))
        if row and row[2] in {None, row[1]}:
            found[int(row[1])] = int(row[3])
    return found
