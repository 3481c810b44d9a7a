"""A store for each test of the analyzer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fabrichealth.store.embedded import EmbeddedStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    """Return an embedded store in a folder of its own."""
    opened = EmbeddedStore.open(tmp_path / "store.db")
    yield opened
    opened.close()
