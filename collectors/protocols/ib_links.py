"""InfiniBand nodes and links, as ibnetdiscover (also -p) and `iblinkinfo --line` print them.

Nodes are known by GUIDs alone: descriptions are set by hosts, change and repeat. Of a channel
adapter ibnetdiscover's blocks tell the GUIDs of node and port, the other two forms the port's only.
(rdma-core, infiniband-diags; formats read in its output.)
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LONGEST = 4096
"""Characters of a line that are looked at."""

LANE = {
    "SDR": 2.5e9, "DDR": 5e9, "QDR": 10e9, "FDR10": 10e9, "FDR": 14e9,
    "EDR": 25e9, "HDR": 50e9, "NDR": 100e9, "XDR": 200e9,
}  # fmt: skip
"""Nominal bit/s of a lane by generation, as the kernel's `rate` counts them."""

SIGNALLED = {
    "10.3125": 10e9, "14.0625": 14e9, "25.78125": 25e9, "53.125": 50e9, "106.25": 100e9,
    "212.5": 200e9,
}  # fmt: skip
"""Nominal bit/s of a lane by what iblinkinfo prints: Gbit/s on the wire, coding included."""

_GUID = r"0x([0-9a-f]{1,16})"


@dataclass(frozen=True, slots=True)
class Node:
    """A node: GUID as 16 digits, kind (switch, ca, router), description, ports."""

    guid: str
    kind: str
    description: str
    ports: int = 0
    port_guids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link; `guid` is the node's or, where only that is told, the port's."""

    guid: str
    port: int
    lid: int = 0
    description: str = ""


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """A port and what it says of its link; None is not said."""

    here: End
    there: End | None = None
    up: bool | None = None
    enabled: bool | None = None
    lanes: int | None = None
    lane_rate: float | None = None
    """bit/s."""
    switch: bool | None = None
    far_switch: bool | None = None
    """Whether the far end is a switch."""

    @property
    def speed(self) -> float | None:
        """Nominal bit/s of the link; None while it is down or not known."""
        return self.lanes * self.lane_rate if self.lanes and self.lane_rate else None


@dataclass(slots=True)
class Links:
    """What one listing says."""

    nodes: list[Node] = field(default_factory=list)
    ends: list[LinkEnd] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.nodes or self.ends)


def digits(guid: str) -> str:
    """Return a GUID as 16 lower-case digits."""
    return guid.lower().removeprefix("0x").rjust(16, "0")


# -- iblinkinfo --line

_LINKINFO = re.compile(
    rf'{_GUID}\s+"(?P<name>.*?)"\s+(?:0x[0-9a-f]{{1,16}}\s+)?(?P<lid>\d{{1,6}})\s+(?P<port>\d{{1,3}})'
    r"\[[^\]]{0,4}\]\s*==\((?P<state>[^)]{0,80})\)==>"
    r"\s*(?:0x(?P<far>[0-9a-f]{1,16})\s+(?P<farlid>\d{1,6})\s+(?P<farport>\d{1,3}))?"
    r'\s*\[[^\]]{0,4}\]\s*"(?P<farname>.*?)"\s*(?:\(.*)?'
)
_STATE = re.compile(
    r"\s*(?:(?P<lanes>\d{1,2})X\s+(?P<rate>\d{1,4}(?:\.\d{1,6})?) Gbps\s+)?"
    r"(?P<logical>\w+)\s*/\s*(?P<physical>\w+)\s*"
)


def linkinfo(text: str) -> Links:
    """Read `iblinkinfo --line`; lines of another form are passed over."""
    found = Links()
    for line in text.splitlines():
        if "==(" not in line or not line.startswith("0x"):
            continue
        parts = _LINKINFO.fullmatch(line[:LONGEST].rstrip())
        state = _STATE.fullmatch(parts["state"]) if parts else None
        if parts is None or state is None:
            found.malformed.append(line[:200])
            continue
        up = state["logical"] == "Active"
        here = End(digits(parts[1]), int(parts["port"]), int(parts["lid"]), parts["name"].strip())
        there = None
        if parts["far"]:
            name = parts["farname"].strip()
            there = End(digits(parts["far"]), int(parts["farport"]), int(parts["farlid"]), name)
        rate = state["rate"]
        found.ends.append(
            LinkEnd(
                here,
                there,
                up,
                state["physical"] != "Disabled",
                int(state["lanes"]) if state["lanes"] else None,
                (SIGNALLED.get(rate) or float(rate) * 1e9) if rate else None,
            )
        )
    return found


# -- ibnetdiscover -p

_ROW = re.compile(
    rf"(?P<kind>CA|SW|RT)\s+(?P<lid>\d{{1,6}})\s+(?P<port>\d{{1,3}})\s+{_GUID}\s+"
    r"(?P<lanes>\d{1,2}x|\?+)\s+(?P<rate>[A-Z0-9?]{1,8})"
    r"(?:\s+-\s+(?P<farkind>CA|SW|RT)\s+(?P<farlid>\d{1,6})\s+(?P<farport>\d{1,3})"
    r"\s+0x(?P<far>[0-9a-f]{1,16})\s+\(\s*'(?P<name>.*?)' - '(?P<farname>.*)'\s*\)"
    r"|\s+'(?P<alone>.*)')"
)


def ports(text: str) -> Links:
    """Read `ibnetdiscover -p`: a port without a far end has no link."""
    found = Links()
    for line in text.splitlines():
        if not line.startswith(("CA ", "SW ", "RT ")):
            continue
        row = _ROW.fullmatch(line[:LONGEST].rstrip())
        if row is None:
            found.malformed.append(line[:200])
            continue
        name = (row["name"] or row["alone"] or "").strip()
        here = End(digits(row[4]), int(row["port"]), int(row["lid"]), name)
        there = None
        if row["far"]:
            far = row["farname"].strip()
            there = End(digits(row["far"]), int(row["farport"]), int(row["farlid"]), far)
        lanes = row["lanes"].rstrip("x")
        found.ends.append(
            LinkEnd(
                here,
                there,
                there is not None,
                lanes=int(lanes) if there and lanes.isdigit() else None,
                lane_rate=LANE.get(row["rate"]) if there else None,
                switch=row["kind"] == "SW",
                far_switch=row["farkind"] == "SW" if there else None,
            )
        )
    return found


# -- ibnetdiscover

_NODE = re.compile(
    r'(?P<kind>Switch|Ca|Rt)\s+(?P<ports>\d{1,3})\s+"[A-Z]-(?P<guid>[0-9a-f]{1,16})"'
    r'(?:\s*#\s*"(?P<name>.*)"(?P<rest>[^"]*))?'
)
_PORT = re.compile(
    r"\[(?P<port>\d{1,3})\](?:\[ext \d+\])?(?:\((?P<guid>[0-9a-f]{1,16})\))?\s+"
    r'"(?P<farkind>[A-Z])-(?P<far>[0-9a-f]{1,16})"\[(?P<farport>\d{1,3})\](?:\[ext \d+\])?'
    r"(?:\((?P<farguid>[0-9a-f]{1,16})\))?(?:\s*#\s*(?P<comment>.*))?"
)
_RATE = re.compile(r"(\d{1,2})x([A-Z0-9]{3,5})\s*$")
_LID = re.compile(r"\blid (\d{1,6})\b")
_KINDS = {"Switch": "switch", "Ca": "ca", "Rt": "router"}
_PREAMBLE = ("vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=", "#", "DR ")


def blocks(text: str) -> Links:
    """Read ibnetdiscover's blocks; what stands between them in another form is counted."""
    found = Links()
    node: Node | None = None
    lid = 0
    for raw in text.splitlines():
        line = raw[:LONGEST].strip()
        if not line or line.startswith(_PREAMBLE):
            continue
        if head := _NODE.fullmatch(line):
            _keep(found, node)
            node = Node(
                digits(head["guid"]),
                _KINDS[head["kind"]],
                (head["name"] or "").strip(),
                int(head["ports"]),
            )
            own = _LID.search(head["rest"] or "")
            lid = int(own[1]) if own else 0
        elif node is not None and (port := _PORT.fullmatch(line)):
            found.ends.append(_end(node, port, lid))
            if port["guid"]:
                guids = (*node.port_guids, digits(port["guid"]))
                node = Node(node.guid, node.kind, node.description, node.ports, guids)
        else:
            found.malformed.append(line[:200])
    _keep(found, node)
    return found or Links()


def _keep(found: Links, node: Node | None) -> None:
    if node is not None:
        found.nodes.append(node)


def _end(node: Node, port: re.Match[str], lid: int) -> LinkEnd:
    comment = port["comment"] or ""
    outside = re.sub(r'"[^"]*"', "", comment)
    lids = [int(number) for number in _LID.findall(outside)]
    rate = _RATE.search(comment)
    own, far = (lid, lids[-1] if lids else 0) if node.kind == "switch" else _both(lids)
    return LinkEnd(
        End(node.guid, int(port["port"]), own, node.description),
        End(digits(port["far"]), int(port["farport"]), far),
        True,
        lanes=int(rate[1]) if rate else None,
        lane_rate=LANE.get(rate[2]) if rate else None,
        switch=node.kind == "switch",
        far_switch=port["farkind"] == "S",
    )


def _both(lids: list[int]) -> tuple[int, int]:
    return (lids[0], lids[-1]) if len(lids) > 1 else (0, 0)


def told_apart(text: str) -> Iterator[Links]:
    """Yield what a text says in whichever of the three forms it is."""
    for read in (linkinfo, ports, blocks):
        found = read(text)
        if found:
            yield found
            return
