"""YAML files of the site: plain values that remember the line they stand in.

Reads with libyaml where PyYAML has it. A key given twice is an error, because the later one
would silently win.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from fabrichealth.errors import SiteError

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_COLLECTIONS = frozenset({"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})

Loc = tuple[str | int, ...]


class WrittenInt(int):
    """An integer that remembers how it was written: a lot 0012 is no 10."""

    written: str


class WrittenFloat(float):
    """A number that remembers how it was written: firmware 1.10 is no 1.1."""

    written: str


def text_of(value: object) -> object:
    """Return a scalar as the file has it, for what is text even where it looks like a number."""
    if value is None or isinstance(value, str | Mapping | list):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return getattr(value, "written", None) or str(value)


Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class YamlFile:
    """What a YAML file holds, and in which line each key stands."""

    path: Path
    value: Any
    lines: dict[Loc, int]

    def line(self, loc: Sequence[str | int]) -> int:
        """Return the line of a key, or of the nearest key above it."""
        for end in range(len(loc), -1, -1):
            found = self.lines.get(tuple(loc[:end]))
            if found is not None:
                return found
        return 1

    def error(self, loc: Sequence[str | int], what: str) -> SiteError:
        """Return an error that names file, line and key."""
        key = ".".join(str(part) for part in loc)
        return SiteError(f"{self.path}:{self.line(loc)}: {key + ': ' if key else ''}{what}")

    def validated(self, model: type[Model], value: Any, loc: Loc = ()) -> Model:
        """Return part of the file as a model.

        Raises:
            SiteError: the first fault, with file, line and key.
        """
        try:
            return model.model_validate(value)
        except ValidationError as wrong:
            first = wrong.errors()[0]
            where = [part for part in first["loc"] if not str(part).startswith("function-")]
            raise self.error((*loc, *where), says(first)) from None


def says(fault: Any) -> str:
    """Put the words of a pydantic error into ours: what is wrong and what is expected."""
    if fault["type"] == "extra_forbidden":
        return "unknown key; see the documentation of such files for those there are"
    if fault["type"] == "missing":
        return "is missing"
    if fault["type"] in {"model_type", "dict_type", "model_attributes_type"}:
        return "must be a mapping of keys to values"
    if fault["type"] in {"list_type", "tuple_type"}:
        return "must be a list"
    if fault["type"] == "too_short":
        return f"must have {fault['ctx']['min_length']} or more; it has {len(fault['input'])}"
    return str(fault["msg"]).removeprefix("Value error, ")


def load(path: Path) -> YamlFile:
    """Read a YAML file.

    Raises:
        SiteError: it is not there, not UTF-8, not YAML, or gives a key twice.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise SiteError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except OSError as wrong:
        raise SiteError(f"{path}: cannot be read ({wrong.strerror}); check the path") from None
    return parse(text, path)


def parse(text: str, path: Path) -> YamlFile:
    """Read YAML text; `path` is for the messages.

    Raises:
        SiteError: not YAML, or a key twice.
    """
    loader = _Loader(text)
    lines: dict[Loc, int] = {}
    try:
        node = loader.get_single_node()
        value = None if node is None else _plain(loader, node, (), lines, path)
    except yaml.YAMLError as wrong:
        mark = getattr(wrong, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        what = getattr(wrong, "problem", None) or str(wrong).splitlines()[0]
        raise SiteError(f"{path}:{line}: not YAML ({what}); check indentation and quotes") from None
    except RecursionError:
        raise SiteError(
            f"{path}:1: nested too deeply, or an alias of itself; write it out"
        ) from None
    finally:
        loader.dispose()
    return YamlFile(path, value, lines)


def _plain(loader: Any, node: Any, loc: Loc, lines: dict[Loc, int], path: Path) -> Any:
    lines.setdefault(loc, node.start_mark.line + 1)
    if not isinstance(node, yaml.ScalarNode) and node.tag not in _COLLECTIONS:
        line = node.start_mark.line + 1
        raise SiteError(f"{path}:{line}: not YAML that we read (tag {node.tag}); leave the tag out")
    if isinstance(node, yaml.MappingNode):
        found: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node, deep=True)
            here = (*loc, key if isinstance(key, int) else str(key))
            line = key_node.start_mark.line + 1
            if not isinstance(key, str | int | float | bool):
                raise SiteError(f"{path}:{line}: a key must be a word")
            if key in found:
                raise SiteError(f"{path}:{line}: {'.'.join(map(str, here))}: given twice")
            lines[here] = line
            found[key] = _plain(loader, value_node, here, lines, path)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [
            _plain(loader, item, (*loc, index), lines, path)
            for index, item in enumerate(node.value)
        ]
    return _scalar(loader.construct_object(node, deep=True), node.value)


def _scalar(value: Any, text: str) -> Any:
    if isinstance(value, bool):
        return value if text.lower() in {"true", "false"} else text  # a lot may be called "no"
    if isinstance(value, int):
        number: WrittenInt | WrittenFloat = WrittenInt(value)
    elif isinstance(value, float):
        number = WrittenFloat(value)
    elif isinstance(value, date):
        return text  # nothing in these files is a YAML date; a lot may look like one
    else:
        return value
    number.written = text
    return number
