"""Finds the items in a folder: the folder and the file name are the registration.

A room of items (sources, detectors, boards, rules, metrics) is a package whose modules hold
one item each, or, for constants, several. Nothing lists them.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import TypeVar, cast

Item = TypeVar("Item")


def modules(package: str) -> Iterator[tuple[str, ModuleType]]:
    """Yield (file name, module) for each public module of a package, sorted by name."""
    folder = importlib.import_module(package)
    for found in sorted(pkgutil.iter_modules(folder.__path__), key=lambda found: found.name):
        if not found.name.startswith("_"):
            yield found.name, importlib.import_module(f"{package}.{found.name}")


@cache
def names(package: str) -> tuple[str, ...]:
    """Return the file names of a package's items without importing any."""
    folder = importlib.import_module(package)
    found = (item.name for item in pkgutil.iter_modules(folder.__path__))
    return tuple(sorted(name for name in found if not name.startswith("_")))


def constants(package: str, kind: type[Item]) -> dict[str, Item]:
    """Return every module-level instance of `kind`, by `module.NAME`."""
    return {
        f"{name}.{attribute}": value
        for name, module in modules(package)
        for attribute, value in vars(module).items()
        if isinstance(value, kind) and attribute.isupper()
    }


def classes(package: str, base: Callable[..., Item]) -> dict[str, type[Item]]:
    """Return the one subclass of the class `base` that each module defines, by file name.

    Raises:
        TypeError: a module defines none, or more than one.
    """
    return {name: item(package, name, base) for name, _ in modules(package)}


def item(package: str, name: str, base: Callable[..., Item]) -> type[Item]:
    """Return the one subclass of the class `base` that a file defines; imports no other file.

    Raises:
        TypeError: the module defines none, or more than one.
    """
    if not inspect.isclass(base):
        raise TypeError(f"{base!r} is not a class")
    module = importlib.import_module(f"{package}.{name}")
    found = [
        cast("type[Item]", value)
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, base)
        and value is not base
        and value.__module__ == module.__name__
        and not value.__name__.startswith("_")
    ]
    if len(found) != 1:
        raise TypeError(f"{module.__name__}: needs exactly one {base.__name__}, has {len(found)}")
    return found[0]


class Lazy(Mapping[str, Item]):
    """The items of a folder by file name; a file is imported when its name is looked up."""

    def __init__(self, package: str, build: Callable[[str], Item]) -> None:
        self._package = package
        self._build = build

    def __getitem__(self, name: str) -> Item:
        if name not in names(self._package):
            raise KeyError(name)
        return self._build(name)

    def __iter__(self) -> Iterator[str]:
        return iter(names(self._package))

    def __len__(self) -> int:
        return len(names(self._package))
