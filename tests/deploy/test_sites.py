"""Shipped site files: each is right as it stands, and says what docs/stores.md says."""

import shutil
from pathlib import Path

import pytest
import yaml

from fabrichealth.cli._sites import STORES
from fabrichealth.cli._units import LISTEN
from tests.deploy.shipped import DEPLOY
from tests.fabrichealth.terminal import Terminal

SITES = sorted(
    path.name
    for path in (DEPLOY / "sites").glob("*.yaml")
    if path.name not in {"topology.yaml", "kustomization.yaml"}
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped files with the secrets that they name."""
    shutil.copytree(DEPLOY / "sites", tmp_path / "sites")
    (tmp_path / "sites/secrets").mkdir()
    for name in ("cdu", "community", "store"):
        (tmp_path / "sites/secrets" / name).write_text("let-me-read\n")
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setenv("LISTEN", LISTEN)
    return tmp_path / "sites"


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)


@pytest.mark.parametrize("name", SITES)
def test_a_shipped_site_file_is_right_as_it_stands(
    name: str, folder: Path, terminal: Terminal
) -> None:
    said = terminal("check", "-c", folder / name)
    assert (said.status, said.err) == (0, "")


def test_every_store_has_a_file_for_the_site_and_one_for_its_hosts() -> None:
    assert set(SITES) == {f"{name}{part}.yaml" for name in STORES for part in ("", ".host")}


@pytest.mark.parametrize("name", STORES)
def test_hosts_write_to_the_store_that_the_site_reads(name: str) -> None:
    site, host = (
        yaml.safe_load((DEPLOY / f"sites/{name}{part}.yaml").read_text())["store"]
        for part in ("", ".host")
    )
    assert site == host
