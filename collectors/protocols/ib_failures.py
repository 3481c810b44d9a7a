"""What InfiniBand's tools write to stderr: which parts of a sweep did not answer.

A tool goes on after a node that times out, so that one line here is one part missing, and the rest
of its output is good.
"""

import re
from dataclasses import dataclass

LONGEST = 1000

_NAMED = re.compile(
    r"(?:ib(?:warn|error): )?(?:\[\d+\] )?(?:\w+: )?(?P<what>\w[\w ]*?) query failed on "
    r"(?P<name>.+), Lid (?P<lid>\d{1,6}) port (?P<port>\d{1,3}|ALL)\s*",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"(?:.*?; )?umad \((?P<path>.{1,200}?) Attr (?P<attribute>0x[0-9a-fA-F]{1,4}(?::\d+)?)\) "
    r"bad status (?P<status>\d+)(?:; (?P<reason>.*))?"
)
_WHOLE = re.compile(
    r".*(?:Query SA failed|query SA failed|Failed to open|can't resolve|iberror:).*"
)


@dataclass(frozen=True, slots=True)
class Failure:
    """One part that did not answer."""

    where: str
    """Name and port as the tool says them, else the directed path."""
    text: str
    port: str = ""


def failures(text: str) -> list[Failure]:
    """Read stderr; lines that report nothing missing are passed over."""
    found: list[Failure] = []
    for raw in text.splitlines():
        line = raw[:LONGEST].strip()
        if named := _NAMED.fullmatch(line):
            found.append(Failure(f"{named['name']} port {named['port']}", line, named["port"]))
        elif path := _PATH.fullmatch(line):
            found.append(Failure(path["path"].rstrip(" ;"), line))
        elif _WHOLE.fullmatch(line):
            found.append(Failure(line[:120], line))
    return list(dict.fromkeys(found))
