"""Fixtures of the end-to-end tests: the emulated supernode, and sites that watch it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.emulated import Emulated, Site

MakeSite = Callable[..., Site]


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulated]:
    """A supernode to which nothing happens but what the test does."""
    one = Emulated(tmp_path_factory.mktemp("supernode"))
    yield one
    one.close()


@pytest.fixture
def site(tmp_path: Path, emulated: Emulated) -> Iterator[MakeSite]:
    """Makes sites; their daemons are ended when the test ends."""
    made: list[Site] = []

    def make(**more: Any) -> Site:
        made.append(Site(tmp_path / f"site{len(made)}", emulated, **more))
        return made[-1]

    yield make
    for one in made:
        if one.daemon is not None:
            one.daemon.end()
    emulated.fabric.unplugged.clear()
    emulated.fabric.ill.clear()
