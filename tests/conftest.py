"""What all tests share: real servers; an example may take its time, since machines are busy."""

from collections.abc import Iterator
from os import environ

import pytest
from hypothesis import HealthCheck, settings

from tests.servers import Servers

settings.register_profile(
    "house",
    settings.get_profile("ci" if "CI" in environ else "default"),
    max_examples=30 if "CI" in environ else 100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Real servers, for whoever asks."""
    every = Servers(tmp_path_factory.mktemp("servers"))
    yield every
    every.end()
