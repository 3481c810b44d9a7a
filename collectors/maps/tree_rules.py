"""Maps of JSON trees: files that say what leaves are in the catalogue, checked when they are read.

A path's keys are literal, `*` for any, or hold names in braces: `{port}`, `{lane}`, `{lane0}` (a
lane counted from 0), `{priority}` (a class of traffic; `TC{priority}`), `{limit}` (`highAlarm`,
`low-warning-threshold`: bound and level), or a label of the metric.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from collectors.maps.map_parts import AnyMetric, MapPart
from collectors.protocols import json_tree
from fabrichealth.catalogue.devices import DEVICE_INFO
from fabrichealth.catalogue.optics import LOS, OPTICS_INFO, RX_POWER
from fabrichealth.catalogue.ports import PORT_INFO
from fabrichealth.errors import SiteError
from fabrichealth.metric import Metric
from fabrichealth.yamlfile import load

FOLDER = Path(__file__).parent

PATTERNS = {
    "port": r"(?P<port>.+)",
    "lane": r"(?P<lane>[1-9]\d{0,2})",
    "lane0": r"(?P<lane0>\d{1,2})",
    "priority": r"(?P<priority>\d{1,2}(?:-\d{1,2})?)",
    "limit": r"(?P<bound>[hH]igh|[lL]ow)-?(?P<level>[aA]larm|[wW]arn)(?:ing)?(?:-threshold)?",
    "errors": r"(?P<errors>\d{1,2})",
    "row": r"(?P<row>.+)",
}
"""What the names in braces stand for; any other is a word without a separator."""

_NAME = re.compile(r"\{([a-z0-9_]+)\}")

Form = Literal[
    "number", "count", "ratio", "power", "amount", "speed", "lanes", "flag", "up", "enabled",
    "fallen", "one", "zero", "ticks", "snr",
]  # fmt: skip
"""How a leaf's value is told: see `collectors.trees.values`."""

FACTS = {"port": PORT_INFO, "optics": OPTICS_INFO, "device": DEVICE_INFO}
"""Info series whose labels are words of the reply."""

HEARD = {"neighbor.system", "neighbor.chassis", "neighbor.port", "neighbor.port_type"}


class LeafRule(MapPart):
    """What one leaf is: a reading, a word of an info series or a neighbour, or a time stamp."""

    to: AnyMetric | None = None
    form: Form = Field("number", alias="as")
    worth: float = 1.0
    labels: Mapping[str, str] = Field(default_factory=dict)
    join: Literal["first", "sum", "most", "halves"] = "first"
    """Of several leaves of one series: the first with a value, their sum, the greatest, or their
    sum without its fraction."""
    fact: str = ""
    """`port.fec`, `optics.vendor`, `neighbor.system`: the info series' label it gives."""
    stamp: bool = False
    """When what lies beside this leaf was measured, in unix seconds."""


class PathRules(MapPart):
    """The leaves below one path."""

    below: str
    leaves: Mapping[str, LeafRule]


class TreeMap(MapPart):
    """One file."""

    about: str
    rules: tuple[PathRules, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """The rule of a leaf, what the names in its path stand for, and the rule's rank."""

    rule: LeafRule
    names: Mapping[str, str]
    rank: int


@dataclass(slots=True)
class Branch:
    """Rules by the keys of their paths."""

    rules: list[tuple[int, LeafRule]] = field(default_factory=list)
    literal: dict[str, "Branch"] = field(default_factory=dict)
    patterns: dict[str, tuple[re.Pattern[str], "Branch"]] = field(default_factory=dict)

    def find(self, paths: Iterable[json_tree.Path]) -> Iterator[list[Found]]:
        """Yield the rules of each leaf; paths that begin as the one before cost little."""
        steps: list[list[tuple[Branch, Mapping[str, str]]]] = [[(self, {})]]
        before: json_tree.Path = ()
        for path in paths:
            same = 0
            for one, other in zip(before, path, strict=False):
                if one != other:
                    break
                same += 1
            del steps[same + 1 :]
            for key in path[same:]:
                steps.append(
                    [
                        (branch, {**names, **more})
                        for one, names in steps[-1]
                        for branch, more in one.below(key)
                    ]
                )
            before = path
            yield [Found(rule, names, rank) for one, names in steps[-1] for rank, rule in one.rules]

    def below(self, key: str) -> Iterator[tuple["Branch", Mapping[str, str]]]:
        """Yield the branches that a key leads to, and the names it holds for each."""
        if key in self.literal:
            yield self.literal[key], {}
        for pattern, branch in self.patterns.values():
            fits = pattern.fullmatch(key)
            if fits:
                yield branch, _named(fits.groupdict())

    def at(self, step: str) -> "Branch":
        """Return the branch of one key of a rule's path, new or known."""
        if step != "*" and "{" not in step:
            return self.literal.setdefault(step, Branch())
        if step not in self.patterns:
            self.patterns[step] = (_pattern(step), Branch())
        return self.patterns[step][1]


def rules(maps: tuple[TreeMap, ...]) -> Branch:
    """Return the rules of some maps by their paths; those of earlier maps rank first."""
    root = Branch()
    rank = 0
    for known in maps:
        for part in known.rules:
            for leaf, rule in part.leaves.items():
                branch = root
                for step in _steps(part.below, leaf):
                    branch = branch.at(step)
                branch.rules.append((rank, rule))
                rank += 1
    return root


def metrics(maps: tuple[TreeMap, ...]) -> tuple[Metric, ...]:
    """Return every metric that maps can give, and what follows from it."""
    told: dict[Metric, None] = {}
    for known in maps:
        for part in known.rules:
            for rule in part.leaves.values():
                if rule.to is not None:
                    told[rule.to] = None
                subject = FACTS.get(rule.fact.partition(".")[0])
                if subject is not None:
                    told[subject] = None
    if RX_POWER in told:
        told[LOS] = None
    return tuple(dict.fromkeys((*told, PORT_INFO)))


@cache
def read(file: Path) -> TreeMap:
    """Read a map.

    Raises:
        SiteError: it is wrong; the message says where.
    """
    try:
        known = TreeMap.model_validate(load(file).value)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise SiteError(f"{file.name}: {place}: {first['msg']}") from None
    for part in known.rules:
        for leaf, rule in part.leaves.items():
            wrong_rule = _wrong(part.below, leaf, rule)
            if wrong_rule:
                raise SiteError(f"{file.name}: {part.below}/{leaf}: {wrong_rule}")
    return known


def maps(standard: Path, own: str) -> tuple[TreeMap, ...]:
    """Return the product's map of a kind of device, behind a site's own if there is one.

    Raises:
        SiteError: one is wrong; the message says where.
    """
    return (*([read(Path(own))] if own else []), read(standard))


def _steps(below: str, leaf: str) -> list[str]:
    return [step for step in f"{below}/{leaf}".split("/") if step]


def _wrong(below: str, leaf: str, rule: LeafRule) -> str:
    """Return what is wrong with a rule, empty if nothing is."""
    names = _NAME.findall(f"{below}/{leaf}")
    given = {label for name in names for label in LABELS.get(name, (name,))}
    if rule.to is not None:
        missing = set(rule.to.labels) - given - rule.labels.keys() - {"device"}
        missing -= {"lane"} if "port" in given and "quantity" in rule.to.labels else set()
        return f"no label {min(missing)}" if missing else ""
    if rule.fact and rule.fact not in HEARD:
        kind, _, label = rule.fact.partition(".")
        if kind not in FACTS or label not in FACTS[kind].labels:
            return f"no fact {rule.fact}"
    return "" if rule.fact or rule.stamp else "give to, fact or stamp"


LABELS = {"lane0": ("lane",), "limit": ("bound", "level")}
"""What names in braces become as labels, where they are not one themselves."""


def _named(groups: Mapping[str, str]) -> dict[str, str]:
    """Return the names of a key as labels are written."""
    names = dict(groups)
    if "lane0" in names:
        names["lane"] = str(int(names.pop("lane0")) + 1)
    if "level" in names:
        names["bound"] = names["bound"].lower()
        names["level"] = "alarm" if names["level"].lower() == "alarm" else "warning"
    return names


def _pattern(step: str) -> re.Pattern[str]:
    if step == "*":
        return re.compile(r".*", re.DOTALL)
    parts: list[Any] = []
    end = 0
    for found in _NAME.finditer(step):
        parts.append(re.escape(step[end : found.start()]))
        parts.append(PATTERNS.get(found[1], rf"(?P<{found[1]}>[^/]+)"))
        end = found.end()
    parts.append(re.escape(step[end:]))
    return re.compile("".join(parts), re.DOTALL)
