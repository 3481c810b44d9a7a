"""The ports of a device by SNMP: which rows are ports, and what they are called.

A row is known by its ifIndex, which an agent may hand out anew at every restart (RFC 2863 section
3.1.5); a port is therefore known by its ifName, and everything that was laid out by index is laid
out again when the names moved.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from collectors.maps.columns import Columns
from collectors.maps.names import port_name
from collectors.maps.snmp_rules import PortMap
from collectors.protocols.snmp_columns import NONE, Answer, checked, text
from collectors.snmp.asking import Answers, Part
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Reason

TECHNOLOGY = {6: "roce", 62: "roce", 69: "roce", 117: "roce", 199: "ib"}
"""By IANAifType; other ports are of none that the topology has a name for."""


@dataclass(slots=True)
class Ports:
    """Names of the ports of one device; `version` grows whenever they moved."""

    device: str
    known: PortMap
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Written names of ports by what else they are called."""
    version: int = 0
    names: tuple[str, ...] = ()
    """All ports, in the order in which their values stand [p]."""
    technology: tuple[str, ...] = ()
    place: dict[str, int] = field(default_factory=dict)
    """Place in `names` by index of the row."""
    called: dict[str, str] = field(default_factory=dict)
    """Port by any text by which it may be meant: name, description, index."""
    _said: Answer = NONE
    _described: Answer = NONE
    _wrong: list[tuple[Reason, str, str]] = field(default_factory=list)

    @property
    def named(self) -> bool:
        """Whether the agent has names of ports (ifXTable), as every switch does."""
        return bool(self._said.oids)

    def read(self, columns: Columns) -> Part:
        """Read the names; and what the rows are, if the names moved."""
        name, words, kind = (
            self.known.oids[column] for column in (*self.known.ports.names, self.known.ports.type)
        )
        said = (yield (name,)).get(name, NONE)
        described = (yield (words,)).get(words, NONE) if not said.oids else NONE
        same = not said.oids and described == self._described
        if same:
            said = self._said  # left out of one answer, by an agent whose rows are the same
        if said != self._said or not (said.oids or same):
            more = dict((yield (kind, words)))
            self._said, self._described = said, more.get(words, NONE)
            self._learn({**more, name: said}, kind)
        for reason, name, why in self._wrong:
            columns.refuse(reason, name, {"device": self.device}, why)

    def _learn(self, more: Answers, kind: str) -> None:
        self._wrong = []
        self.version += 1
        rows = [
            self._rows(more.get(self.known.oids[name], NONE)) for name in self.known.ports.names
        ]
        types = self._rows(more.get(kind, NONE))
        wanted = set(map(str, self.known.ports.types))
        named: dict[str, str] = {}
        for index in dict.fromkeys(index for one in rows for index in one):
            if types and types.get(index) not in wanted:
                continue
            name = next((one[index] for one in rows if one.get(index)), "")
            if name:
                named[index] = port_name(name)
            else:
                self._wrong.append((Reason.MALFORMED, "ifName", f"row {index} has no name"))
        often = Counter(named.values())
        for name in [name for name, times in often.items() if times > 1]:
            self._wrong.append((Reason.DUPLICATE, "ifName", name))
        named = {index: name for index, name in named.items() if often[name] == 1}
        self.names = tuple(named.values())
        self.place = {index: place for place, index in enumerate(named)}
        self.technology = tuple(
            TECHNOLOGY.get(int(types[index]), "") if types else "" for index in named
        )
        self.called = {
            alias: port for alias, port in self.aliases.items() if port in self.names
        } | dict(named)
        for one in reversed(rows):  # names win over descriptions, those over indices
            self.called |= {one[index]: name for index, name in named.items() if one.get(index)}

    def _rows(self, answer: Answer) -> Mapping[str, str]:
        """Return texts by index; an answer that is none has no rows."""
        if not answer.oids:
            return {}
        column = answer.oids[0].rpartition(".")[0]
        try:
            indices = checked(answer, column)
        except MalformedReply as wrong:
            self._wrong.append((Reason.MALFORMED, column, str(wrong)))
            return {}
        return dict(zip(indices, map(text, answer.values), strict=True))
