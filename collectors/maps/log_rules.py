"""Lines of logs -> codes: what a line is about, whether it is fatal, what the code means.

The rules are data, one YAML file per speaker under `collectors/maps/logs`. A rule has literal
marks, one of which a line must hold before its expression is tried, so that a flooding log costs
little. A rule believes its own speakers alone, and matches from where the text starts: what a
program quotes in its line (a name that somebody tried to log in with) is no error. Named groups of
an expression fill the templates of code and port; `pci` and `switch` (an NVSwitch's number) give
the device, `fatal` the line's own verdict.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from collectors.maps.map_parts import MapPart
from collectors.protocols.log_line import KERNEL
from fabrichealth.yamlfile import YamlFile, load

FOLDER = Path(__file__).parent / "logs"

_HOLE = re.compile(r"\{([a-z]+)\}")

OWN_WORDS = {
    "fatal": True,
    "uncorrectable (fatal)": True,
    "uncorrected (fatal)": True,
    "non-fatal": False,
    "nonfatal": False,
    "uncorrectable (non-fatal)": False,
    "uncorrected (non-fatal)": False,
    "corrected": False,
    "correctable": False,
}
"""How lines call themselves fatal or not."""


class Meaning(MapPart):
    """What a code means, and whether work on the device is lost; unknown where it depends."""

    means: str
    fatal: bool | None = None


Marks = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    Field(min_length=1),
]


class Rule(MapPart):
    """Lines of one form."""

    code: str
    """The code, with `{number}` and the like for groups of the expression."""
    mark: Marks
    line: str
    """A regular expression that the text must match from its start."""
    by: Marks = (KERNEL,)
    """Who writes such lines: `kernel`, or the tags and units of a program, in lower case."""
    then: str = ""
    """A second expression, searched behind what the first one found."""
    of: Literal["accelerator", "nvswitch", "interface", "host"] = "host"
    """What kind of thing the line is about."""
    port: str = ""
    """The port it is about, with `{link}` and the like; none where a group found nothing."""
    words: Mapping[str, str] = Field(default_factory=dict)
    """Names in the code for words in the line, in lower case; others give no code."""
    means: str = ""
    fatal: bool | None = None
    codes: Mapping[str, Meaning] = Field(default_factory=dict)
    """Meanings by what the code holds, where there are several."""

    @cached_property
    def first(self) -> re.Pattern[str]:
        """The expression."""
        return re.compile(self.line)

    @cached_property
    def second(self) -> re.Pattern[str] | None:
        """The second expression."""
        return re.compile(self.then) if self.then else None

    @property
    def known(self) -> tuple[str, ...]:
        """Every code of the rule's table."""
        return tuple(_HOLE.sub(value, self.code) for value in self.codes) or (self.code,)


class LogMap(MapPart):
    """The rules of one speaker."""

    about: str
    rules: tuple[Rule, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Hit:
    """What a line says."""

    code: str
    of: str
    fatal: bool | None
    means: str
    port: str
    pci: str
    """Address in lower case, as the line has it; empty where it has none."""
    switch: str
    """Number of an NVSwitch."""


def read(path: Path) -> LogMap:
    """Read a file of rules.

    Raises:
        SiteError: file, line and key of the first thing that is wrong.
    """
    file = load(path)
    found = file.validated(LogMap, file.value)
    for index, rule in enumerate(found.rules):
        _check(file, index, rule)
    return found


def _check(file: YamlFile, index: int, rule: Rule) -> None:
    groups: set[str] = set()
    for key in ("line", "then"):
        try:
            groups |= set(re.compile(getattr(rule, key)).groupindex)
        except re.error as wrong:
            what = f"not a regular expression ({wrong})"
            raise file.error(("rules", index, key), what) from None
    for key in ("code", "port"):
        for hole in _HOLE.findall(getattr(rule, key)):
            if hole not in groups:
                raise file.error(("rules", index, key), f"no group named {hole} in line or then")


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules of every speaker, in the order of files and lines."""
    return tuple(rule for path in sorted(FOLDER.glob("*.yaml")) for rule in read(path).rules)


@cache
def codes_of(of: str) -> tuple[str, ...]:
    """Return every code that lines about this kind of thing can have, by the tables."""
    return tuple(dict.fromkeys(code for rule in rules() if rule.of == of for code in rule.known))


@cache
def _marks() -> re.Pattern[str]:
    """Return one expression that finds any mark of any rule."""
    marks = sorted({mark for rule in rules() for mark in rule.mark}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, marks)))


@cache
def speakers() -> frozenset[str]:
    """Return everyone whose lines some rule believes."""
    return frozenset(one for rule in rules() for one in rule.by)


def matched(text: str, speaker: str = KERNEL) -> Hit | None:
    """Return what a speaker's line says, None where no rule of theirs knows it."""
    if speaker not in speakers() or _marks().search(text) is None:
        return None
    for rule in rules():
        if speaker in rule.by and any(mark in text for mark in rule.mark):
            hit = _applied(rule, text)
            if hit is not None:
                return hit
    return None


def _applied(rule: Rule, text: str) -> Hit | None:
    found = rule.first.match(text)
    if found is None:
        return None
    groups = {name: word or "" for name, word in found.groupdict().items()}
    if rule.second is not None:
        more = rule.second.search(text, found.end())
        groups |= {} if more is None else {k: v or "" for k, v in more.groupdict().items()}
    filled = [groups[name] for name in _HOLE.findall(rule.code)]
    if rule.words:
        filled = [rule.words.get(word.strip().lower(), "") for word in filled]
    if not all(filled):
        return None
    names = iter(filled)
    meaning = rule.codes.get(filled[0]) if filled else None
    own = OWN_WORDS.get(groups.get("fatal", "").lower())
    table = meaning.fatal if meaning else rule.fatal
    return Hit(
        code=_HOLE.sub(lambda _: next(names), rule.code),
        of=rule.of,
        fatal=table if own is None else own,
        means=meaning.means if meaning else rule.means,
        port=_port(rule.port, groups),
        pci=groups.get("pci", "").lower(),
        switch=groups.get("switch", ""),
    )


def _port(template: str, groups: Mapping[str, str]) -> str:
    words = {name: groups.get(name, "") for name in _HOLE.findall(template)}
    if not all(words.values()):
        return ""
    plain = {name: str(int(w)) if name == "link" else w for name, w in words.items()}
    return _HOLE.sub(lambda hole: plain[hole[1]], template)
