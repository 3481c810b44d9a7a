"""InfiniBand port counters, as perfquery and ibqueryerrors print them, under the PMA's own names.

perfquery: a heading with LID and port, then `Name:....value`. Its extended form has error counters
of 64 bit only where CapMask2 says so (bit 1, IsAdditionalPortCountersExtendedSupported); what an
older tool prints there without it is not of the port. ibqueryerrors: nodes with their rows.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

LONGEST = 65_536

ADDITIONAL = 0x2
"""CapabilityMask2 bit 1: error counters of 64 bit."""

EXTENDED_ALWAYS = frozenset(
    {
        "PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts", "PortUnicastXmitPkts",
        "PortUnicastRcvPkts", "PortMulticastXmitPkts", "PortMulticastRcvPkts",
    }
)  # fmt: skip

NOT_COUNTERS = frozenset({"PortSelect", "CounterSelect", "CounterSelect2"})

_HEAD = re.compile(
    r"# Port(?P<kind> extended|RcvErrorDetails|XmitDiscardDetails|)(?P<word> counters|): "
    r"Lid (?P<lid>\d{1,6}) port (?P<port>\d{1,3})(?P<masks>.*)"
)
_MASK = re.compile(r"CapMask2: 0x([0-9a-fA-F]{1,8})")
_VALUE = re.compile(r"([A-Za-z][A-Za-z0-9]{1,40}):\.*(\d{1,20})")


@dataclass(frozen=True, slots=True)
class PortCounters:
    """Counters of one port; `guid` where the reply says it, else `lid`."""

    port: int
    counters: Mapping[str, int]
    lid: int = 0
    guid: str = ""
    description: str = ""
    wide: bool = False
    """Whether its error counters are of 64 bit, so that none of them stops."""
    unsupported: tuple[str, ...] = ()
    malformed: tuple[str, ...] = ()
    cut: bool = False
    """Whether the output ends before the port's counters do."""


def perfquery(text: str) -> list[PortCounters]:
    """Read perfquery's output, one or several ports; nothing where it is something else."""
    found: list[PortCounters] = []
    head: re.Match[str] | None = None
    body: list[str] = []
    lines = text.splitlines()
    unfinished = lines[-1] if lines and not text.endswith("\n") else ""
    for raw in lines:
        line = raw[:LONGEST].strip()
        if begins := _HEAD.fullmatch(line):
            found += _block(head, body)
            head, body = begins, []
        elif line and head is not None:
            body.append(line)
    return found + _block(head, body, unfinished=unfinished[:LONGEST].strip())


def _block(
    head: re.Match[str] | None, body: list[str], *, unfinished: str = ""
) -> list[PortCounters]:
    """Return the counters of a port; a last line that has no end may lack digits."""
    if head is None:
        return []
    if unfinished and body and body[-1] == unfinished:
        body = body[:-1]
    counters: dict[str, int] = {}
    malformed: list[str] = []
    for line in body:
        value = _VALUE.fullmatch(line)
        if value and int(value[2]) < 1 << 64:
            counters[value[1]] = int(value[2])
        elif not re.match(r"[A-Za-z0-9]+:\.*0x", line) and not line.startswith("#"):
            malformed.append(line[:100])
    if unfinished:
        malformed.append(f"{unfinished[:80]} (the output ends here)")
    extended = head["kind"] == " extended"
    mask = _MASK.search(head["masks"])
    wide = extended and mask is not None and bool(int(mask[1], 16) & ADDITIONAL)
    kept = {name: value for name, value in counters.items() if name not in NOT_COUNTERS}
    unsupported: tuple[str, ...] = ()
    if extended and mask is not None and not wide:
        unsupported = tuple(name for name in kept if name not in EXTENDED_ALWAYS)
        kept = {name: value for name, value in kept.items() if name in EXTENDED_ALWAYS}
    return [
        PortCounters(
            int(head["port"]),
            kept,
            lid=int(head["lid"]),
            wide=wide,
            unsupported=unsupported,
            malformed=tuple(malformed),
            cut=bool(unfinished) or not counters,
        )
    ]


_NODE = re.compile(r'Errors for (?:0x(?P<guid>[0-9a-f]{1,16}) )?"(?P<name>.*)"')
_ROW = re.compile(r"GUID 0x(?P<guid>[0-9a-f]{1,16}) port (?P<port>\d{1,3}|ALL):(?P<rest>.*)")
_FIELD = re.compile(r"\[([A-Za-z][A-Za-z0-9]{1,40}) == (\d{1,20})(?: \([^)]{0,40}\))?\]")
_SUMMARY = re.compile(
    r"## Summary: (?P<nodes>\d{1,9}) nodes checked, (?P<bad>\d{1,9}) bad nodes found"
)


@dataclass(slots=True)
class QueryErrors:
    """Rows of ibqueryerrors; `nodes` checked, None where there is no summary."""

    rows: list[PortCounters] = field(default_factory=list)
    nodes: int | None = None
    malformed: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.rows) or self.nodes is not None


def queryerrors(text: str) -> QueryErrors:
    """Read ibqueryerrors; its rows of ALL ports are no port's."""
    found = QueryErrors()
    name = ""
    lines = text.splitlines()
    if lines and not text.endswith("\n"):
        last = lines.pop()[:200]
        if last.strip().startswith("GUID 0x"):
            found.malformed.append(f"{last} (the output ends here)")
        else:
            lines.append(last)
    for raw in lines:
        line = raw[:LONGEST].strip()
        if node := _NODE.fullmatch(line):
            name = node["name"]
        elif summary := _SUMMARY.match(line):
            found.nodes = int(summary["nodes"])
        elif line.startswith("GUID 0x"):
            row = _ROW.fullmatch(line)
            if row is None:
                found.malformed.append(line[:200])
            elif row["port"] != "ALL":
                guid = row["guid"].rjust(16, "0")
                fields = {name: int(value) for name, value in _fields(row["rest"])}
                found.rows.append(
                    PortCounters(int(row["port"]), fields, guid=guid, description=name)
                )
    return found


def _fields(rest: str) -> Iterator[tuple[str, str]]:
    for found in _FIELD.finditer(rest):
        if int(found[2]) < 1 << 64:
            yield found[1], found[2]
