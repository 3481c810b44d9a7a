"""One small daemon for all who ask whether it lives."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.processes import HOST, fabrichealth, fetched, free_port, until


@pytest.fixture(scope="package")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The HOST:PORT of an exporting daemon without targets."""
    folder = tmp_path_factory.mktemp("serving")
    address = f"{HOST}:{free_port()}"
    (folder / "site.yaml").write_text(f"state: state\nlisten: {address}\ntargets: []\n")
    daemon = fabrichealth(folder / "log", "collect", "-c", folder / "site.yaml")
    until(lambda: fetched(f"http://{address}/-/healthy"), "the daemon")
    yield address
    daemon.end(seconds=30.0)
