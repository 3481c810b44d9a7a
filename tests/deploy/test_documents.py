"""Pages on deployment: what they name is there."""

import re
import shlex

import pytest

from fabrichealth.cli._units import DAEMONS
from fabrichealth.plugins import names
from tests.deploy.shipped import DEPLOY
from tests.house.checkout import ROOT

PAGES = ("deploy", "security", "backup", "upgrade", "stores")

each = pytest.mark.parametrize("name", PAGES)


def page(name: str) -> str:
    """Return a page's text."""
    return (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")


def headings(text: str) -> set[str]:
    """Return the anchors of a page's headings, as forges make them."""
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in found}


@each
def test_links_lead_somewhere(name: str) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page(name)):
        path, _, anchor = link.partition("#")
        target = ROOT / "docs" / (path or f"{name}.md")
        assert target.exists(), link
        assert not anchor or anchor in headings(target.read_text(encoding="utf-8")), link


@each
def test_files_of_deploy_that_are_named_are_there(name: str) -> None:
    named = set(re.findall(r"(?<![\w/])deploy/[\w./@*-]*[\w*]", page(name)))
    missing = {one for one in named if not list(ROOT.glob(one))}
    assert missing == set()


@each
def test_commands_that_are_named_are_ours(name: str) -> None:
    words = re.findall(r"(?:^|[`/])fabrichealth ([a-z][a-z_-]*)", page(name), re.MULTILINE)
    known = {one.replace("_", "-") for one in names("fabrichealth.cli")}
    assert set(words) - known == set()


def test_units_that_are_started_are_shipped() -> None:
    started = [
        shlex.split(line, comments=True)[-1]
        for line in page("deploy").splitlines()
        if line.startswith("systemctl enable")
    ]
    shipped = {daemon.name for daemon in DAEMONS}
    assert started
    assert {re.sub(r"@.*", "@", one) for one in started} <= shipped


def test_the_table_of_folders_has_all_of_kubernetes() -> None:
    told = page("deploy").partition("## Kubernetes")[2]
    folders = {path.name for path in (DEPLOY / "kubernetes").iterdir()}
    parts = {path.name for path in (DEPLOY / "kubernetes/components").iterdir()}
    assert {one for one in folders if f"`{one}" not in told} == set()
    assert {one for one in parts if f"`components/{one}`" not in told} == set()
