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


@pytest.fixture(autouse=True)
def no_detector_fails(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A detector that fails costs a site that detector only; here it costs the test."""
    yield
    told = [one for one in caplog.get_records("call") if one.name == "analyzer.judge"]
    assert not [one.getMessage() for one in told if "fails" in one.getMessage()]
