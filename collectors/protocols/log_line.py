"""One line of a log, in whatever form it comes: when, by which host, who speaks, what.

Forms told apart by their beginning: a record of /dev/kmsg (kernel ABI dev-kmsg), `dmesg` plain,
with `-T` or `--time-format iso`, the journal's JSON (systemd, Journal Export Formats), syslog by
RFC 5424 and RFC 3164 with and without its priority, as rsyslog and journalctl write it into files,
and the own logs of fabric and subnet manager. A local time without a zone counts as UTC, which
hosts of a fleet keep.

Who speaks is what the writer of a text cannot choose: the kernel where the record is of the
kernel's ring, is tagged `kernel` (with a priority, its facility must be the kernel's, 0, which no
program gets: RFC 5424, 6.2.1), or came into the journal by the transport `kernel`; else the tag, or
the journal's trusted fields (systemd.journal-fields).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson

LONGEST = 8192
"""Characters of a line that are looked at; the kernel's own limit is 1 KiB."""

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

AHEAD = 86400.0
"""Seconds by which a date without a year may lie ahead of the clock before it is last year's."""

KERNEL = "kernel"
FABRIC_MANAGER = "nv-fabricmanager"
SUBNET_MANAGER = "opensm"

_KMSG = re.compile(r"(\d{1,10}),(\d{1,20}),(\d{1,18}),[^;]{0,40};(.*)", re.DOTALL)
_SINCE_BOOT = re.compile(r"(?:<\d{1,3}>)?\[ *(\d{1,12}\.\d{1,9})\]\s?(.*)", re.DOTALL)
_DATED = re.compile(
    r"(?:<\d{1,3}>)?\[(?:[A-Z][a-z]{2} )?([A-Z][a-z]{2}) +(\d{1,2})(?: (\d{4}))? "
    r"(\d{2}):(\d{2}):(\d{2})(?: (\d{4}))?\]\s?(.*)",
    re.DOTALL,
)
_STAMP = r"(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})?)"
_RFC5424 = re.compile(rf"<\d{{1,3}}>\d{{1,2}} (?:{_STAMP}|-) (\S+) (\S+) \S+ \S+ (.*)", re.DOTALL)
_STRUCTURED = re.compile(r'(?:-|(?:\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\])+) ?')
_RFC3164 = re.compile(
    r"(?:<\d{1,3}>)?([A-Z][a-z]{2}) +(\d{1,2}) (\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})? (\S+) (.*)",
    re.DOTALL,
)
_ISO = re.compile(rf"(?:<\d{{1,3}}>)?{_STAMP} (.*)", re.DOTALL)
_PRIORITY = re.compile(r"<\d{1,3}>(.*)", re.DOTALL)
_OPENSM = re.compile(
    r"([A-Z][a-z]{2}) +(\d{1,2}) (\d{2}):(\d{2}):(\d{2}) \d{1,6} \[[0-9A-Fa-f]{1,16}\] "
    r"0x[0-9A-Fa-f]{2} -> (.*)",
    re.DOTALL,
)
_TAG = re.compile(
    r"(?:(?:EMERG|ALERT|CRIT|ERR|WARNING|NOTICE|INFO|DEBUG) )?"  # SONiC writes the severity
    r"([A-Za-z_./][\w./@#-]{0,63})(?:\[\d{1,10}\])?: ?(?=\S|$)"
)
_PRIORITY_OF = re.compile(r"<(\d{1,3})>")
_LEVEL = re.compile(r"\[(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\] ")
_UPTIME = re.compile(r"\[ *\d{1,12}\.\d{1,9}\] ")


@dataclass(frozen=True, slots=True)
class Line:
    """What a line says; `at` is unix seconds, None where the line has no time of its own."""

    text: str
    at: float | None = None
    host: str = ""
    since_boot: float | None = None
    """Seconds since the host booted, where that is the only time it has."""
    cursor: str = ""
    """The journal's own name for the place of this line."""
    speaker: str = KERNEL
    """Who wrote it, in lower case: `kernel`, a program's tag or unit; empty where it has none."""
    misdated: bool = False
    """Whether its date is none, such as 30 February."""


def line(raw: str, now: float) -> Line | None:
    """Read a line at `now` (unix seconds); None where it has no form of a log."""
    raw = raw[:LONGEST].rstrip("\r\n\0 ")
    if raw.startswith("{"):
        return _journal(raw)
    for form, read in _FORMS.get(raw[:1], ()):
        found = form.fullmatch(raw)
        if found:
            return read(found, now)
    return None


def plain(text: str) -> Line:
    """Return a text without stamp and tag as a line of the kernel or the fabric manager."""
    return Line(text[:LONGEST], speaker=FABRIC_MANAGER if _LEVEL.match(text) else KERNEL)


def _kmsg(found: re.Match[str], _: float) -> Line:
    text, since = found[4].partition("\n")[0], int(found[3]) / 1e6
    if int(found[1]) >> 3 == 0:
        return Line(text, since_boot=since)
    speaker, said = _tagged(text)  # a program that wrote into the kernel's ring
    return Line(said, since_boot=since, speaker="" if speaker == KERNEL else speaker)


def _since_boot(found: re.Match[str], _: float) -> Line:
    return Line(found[2], since_boot=float(found[1]), speaker=_by_priority(found[0], KERNEL))


def _in_brackets(found: re.Match[str], now: float) -> Line:
    year = found[3] or found[7]
    parts = (found[1], found[2], found[4], found[5], found[6])
    at = _dated(parts, int(year)) if year else _nearest(parts, now)
    speaker = FABRIC_MANAGER if _LEVEL.match(found[8]) else _by_priority(found[0], KERNEL)
    return Line(found[8], at, speaker=speaker, misdated=at is None)


def _rfc5424(found: re.Match[str], _: float) -> Line:
    text = _STRUCTURED.sub("", found[4], count=1).lstrip("\ufeff")
    host = "" if found[2] == "-" else found[2]
    at = _iso(found[1]) if found[1] else None
    speaker = _by_priority(found[0], "" if found[3] == "-" else found[3].lower())
    return Line(text, at, host, speaker=speaker, misdated=bool(found[1]) and at is None)


def _rfc3164(found: re.Match[str], now: float) -> Line:
    at = _nearest((found[1], found[2], found[3], found[4], found[5]), now)
    speaker, text = _tagged(found[7])
    speaker = _by_priority(found[0], speaker)
    return Line(text, at, found[6], speaker=speaker, misdated=at is None)


def _opensm(found: re.Match[str], now: float) -> Line:
    at = _nearest((found[1], found[2], found[3], found[4], found[5]), now)
    return Line(found[6], at, speaker=SUBNET_MANAGER, misdated=at is None)


def _stamped(found: re.Match[str], _: float) -> Line:
    """Read `HOST TAG: text` behind a stamp, or the text itself where dmesg wrote it."""
    stamp, rest = found[1], found[2]
    at = _iso(stamp)
    host, more = (rest.partition(" ")[place] for place in (0, 2))
    if "," not in stamp and host and not host.endswith(":") and _TAG.match(more):
        speaker, text = _tagged(more)
        speaker = _by_priority(found[0], speaker)
        return Line(text, at, host, speaker=speaker, misdated=at is None)
    return Line(rest, at, speaker=_by_priority(found[0], KERNEL), misdated=at is None)


def _bare(found: re.Match[str], _: float) -> Line:
    speaker, text = _tagged(found[1])
    return Line(text, speaker=_by_priority(found[0], speaker))


def _by_priority(raw: str, speaker: str) -> str:
    """Return the speaker, nobody where it calls itself the kernel and its facility is another's."""
    given = _PRIORITY_OF.match(raw)
    return "" if speaker == KERNEL and given and int(given[1]) >> 3 else speaker


def _tagged(text: str) -> tuple[str, str]:
    """Return (tag in lower case, text behind it); a kernel's text without its time since boot."""
    found = _TAG.match(text)
    if found is None:
        return "", text
    tag, text = found[1].lower(), text[found.end() :]
    uptime = _UPTIME.match(text) if tag == KERNEL else None
    return tag, text[uptime.end() :] if uptime else text


Form = tuple[re.Pattern[str], Callable[[re.Match[str], float], Line | None]]

_IN_BRACKETS: tuple[Form, ...] = ((_SINCE_BOOT, _since_boot), (_DATED, _in_brackets))
_DIGITS: tuple[Form, ...] = ((_KMSG, _kmsg), (_ISO, _stamped))
_WORDS: tuple[Form, ...] = ((_OPENSM, _opensm), (_RFC3164, _rfc3164))
_FORMS: dict[str, tuple[Form, ...]] = {
    "[": _IN_BRACKETS,
    "<": (*_IN_BRACKETS, (_RFC5424, _rfc5424), *_WORDS, (_ISO, _stamped), (_PRIORITY, _bare)),
    **dict.fromkeys("0123456789", _DIGITS),
    **{month[0]: _WORDS for month in MONTHS},
}
"""Forms to try by a line's first character."""


def _journal(raw: str) -> Line | None:
    try:
        plain = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(plain, dict) or "MESSAGE" not in plain:
        return None
    text = _message(plain["MESSAGE"])
    stamp = plain.get("_SOURCE_REALTIME_TIMESTAMP", plain.get("__REALTIME_TIMESTAMP"))
    at = None
    if isinstance(stamp, str | int) and re.fullmatch(r"\d{1,17}", str(stamp)):
        at = int(stamp) / 1e6
    host, cursor = plain.get("_HOSTNAME"), plain.get("__CURSOR")
    return Line(
        text,
        at,
        host if isinstance(host, str) else "",
        cursor=cursor if isinstance(cursor, str) else "",
        speaker=_writer(plain),
    )


def _writer(plain: dict[str, Any]) -> str:
    """Return who wrote a journal's line, by the fields that no writer can choose.

    A journal that was written out without any of them has only what was asked of it: the kernel's.
    """
    fields = ("_TRANSPORT", "_SYSTEMD_UNIT", "_COMM", "SYSLOG_IDENTIFIER")
    transport, unit, command, tag = (
        said.lower() if isinstance(said := plain.get(name), str) else "" for name in fields
    )
    if transport == KERNEL:
        return KERNEL
    named = unit.removesuffix(".service") or command or tag
    if not transport:
        return named or KERNEL
    return "" if named == KERNEL else named


def _message(said: Any) -> str:
    """Return the journal's text; what is not UTF-8 comes as a list of bytes."""
    if isinstance(said, list):
        numbers = [n for n in said[:LONGEST] if isinstance(n, int) and 0 <= n < 256]
        return bytes(numbers).decode("utf-8", "replace")
    return said if isinstance(said, str) else ""


def _iso(stamp: str) -> float | None:
    text = stamp.replace(",", ".")
    whole, dot, rest = text.partition(".")
    if dot:  # the standard library takes at most six digits of a fraction
        digits = re.match(r"\d+", rest)
        fraction = digits[0] if digits else ""
        text = f"{whole}.{fraction[:6].ljust(6, '0')}{rest[len(fraction) :]}"
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=1024)  # lines come many a second
def _dated(parts: tuple[str, ...], year: int) -> float | None:
    month, day, hour, minute, second = parts
    if month not in MONTHS:
        return None
    numbers = (year, MONTHS.index(month) + 1, int(day), int(hour), int(minute))
    try:
        # second 60 is a leap second
        moment = datetime(*numbers, min(int(second), 59), tzinfo=UTC)
        return moment.timestamp()
    except (ValueError, OverflowError):
        return None


def _nearest(parts: tuple[str, ...], now: float) -> float | None:
    """Return a date without a year as the last one that is not far ahead of the clock."""
    try:
        year = datetime.fromtimestamp(now, UTC).year
    except (ValueError, OverflowError, OSError):
        return None
    for candidate in (year + 1, year, year - 1, year - 2, year - 3, year - 4):
        at = _dated(parts, candidate) if candidate > 0 else None  # 29 February is not every year
        if at is not None and at <= now + AHEAD:
            return at
    return None
