"""What the documents promise: links lead somewhere, site files validate, commands parse."""

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fabrichealth.__main__ import COMMANDS, OneLineParser
from fabrichealth.catalogue import METRICS
from fabrichealth.cli._command import Command
from fabrichealth.cli._site import DETECTORS, SOURCES, load
from fabrichealth.kinds import KINDS
from fabrichealth.plugins import item, names
from fabrichealth.topology import read as read_topology
from tests.house.checkout import ROOT, named, tracked

DOCUMENTS = [
    file
    for file in tracked("docs", "README.md", "README.zh.md", "CONTRIBUTING.md", "deploy")
    if file.suffix == ".md"
]

SITE = {
    "topology", "events", "state", "listen", "store", "sources", "targets", "detectors", "policy",
    "notify",
}  # fmt: skip
"""Keys of a site file by which a snippet is one."""

TOPOLOGY = {"domains", "racks", "devices", "links", "loops", "feeds", "routing"}

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
_TICKED = re.compile(r"`(fabrichealth [^`]*)`")


def prose(text: str) -> str:
    """Return a document without its fenced blocks."""
    return _FENCE.sub("", text)


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings, as the common forges make them."""
    found = set()
    for heading in _HEADING.findall(prose(text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower().strip()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def broken(file: Path) -> Iterator[str]:
    """Yield links of a document that lead nowhere in this checkout."""
    text = file.read_text(encoding="utf-8")
    for link in _LINK.findall(prose(text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        there = (file.parent / path).resolve() if path else file
        if not there.exists():
            yield f"{link}: no such file"
        elif anchor and anchor not in anchors(there.read_text(encoding="utf-8")):
            yield f"{link}: no such heading"


def snippets() -> Iterator[tuple[Path, int, dict[str, object]]]:
    """Yield every YAML block of the documents: its file, its line, what it says."""
    for file in DOCUMENTS:
        text = file.read_text(encoding="utf-8")
        for block in _FENCE.finditer(text):
            if block[1] == "yaml":
                said = yaml.safe_load(block[2])
                if isinstance(said, dict):
                    yield file, text.count("\n", 0, block.start()) + 1, said


def commands(file: Path) -> Iterator[str]:
    """Yield every call of `fabrichealth` in a document: in blocks, and in ticks with arguments."""
    text = file.read_text(encoding="utf-8")
    for block in _FENCE.finditer(text):
        if block[1] in {"", "sh", "console"}:
            for line in block[2].replace("\\\n", " ").splitlines():
                yield from _calls(line)
    for ticked in _TICKED.findall(prose(text)):
        if not re.search(r"\.\.|COMMAND|\|", ticked):
            yield from _calls(re.sub(r"[\[\]]", "", ticked))  # what may be left out


def _calls(line: str) -> Iterator[str]:
    bare = re.sub(r"^\s*\$ ", "", re.sub(r"\s+#.*$", "", line))
    for part in re.split(r"\s*(?:;|&&|\|)\s*", bare):
        call = re.sub(r"^(?:sudo |nohup |[\w./]*/)?(fabrichealth )", r"\1", part)
        if call.startswith("fabrichealth "):
            yield re.sub(r"\s*(?:&|\d?>.*)$", "", call).strip()


@pytest.fixture(scope="module")
def parser() -> argparse.ArgumentParser:
    """The real parser of every command."""
    whole = OneLineParser(prog="fabrichealth")
    whole.add_argument("--version", action="store_true")
    verbs = whole.add_subparsers(dest="command", required=True)
    for name in names(COMMANDS):
        item(COMMANDS, name, Command)().arguments(verbs.add_parser(name.replace("_", "-")))
    return whole


@pytest.mark.parametrize("file", DOCUMENTS, ids=named)
def test_every_link_and_picture_is_there(file: Path) -> None:
    assert list(broken(file)) == []


def test_every_site_file_and_topology_in_the_documents_validates(tmp_path: Path) -> None:
    site, topology = tmp_path / "site.yaml", tmp_path / "topology.yaml"
    wrong, number = [], 0
    for file, line, said in snippets():
        if not said.keys() & (SITE | TOPOLOGY):
            continue
        number += 1
        try:
            if said.keys() & SITE:
                topology.write_text("devices: []\n")
                site.write_text(yaml.safe_dump({**said, **_named(said)}))
                load(site)
            else:
                topology.write_text(yaml.safe_dump(said))
                read_topology(topology)
        except Exception as failed:  # noqa: BLE001 - told with its place
            wrong.append(f"{named(file)}:{line}: {failed}")
    assert wrong == []
    assert number > 20


def _named(said: dict[str, object]) -> dict[str, object]:
    """Return what has to be there: a topology of its own."""
    return {"topology": "topology.yaml"} if "topology" in said else {}


def test_every_command_in_the_documents_is_one(parser: argparse.ArgumentParser) -> None:
    wrong, number = [], 0
    for file in DOCUMENTS:
        for call in commands(file):
            number += 1
            verb, *more = shlex.split(call)[1:]
            if not more and verb.replace("-", "_") in names(COMMANDS):
                continue  # the command itself is spoken of
            try:
                parser.parse_args([verb, *more])
            except SystemExit:
                wrong.append(f"{named(file)}: {call}")
    assert wrong == []
    assert number > 60


def test_every_source_has_a_site_line_in_connecting() -> None:
    told = {
        target["source"]
        for file, _, said in snippets()
        if file.parent.name == "connecting"
        for target in said.get("targets", [])  # type: ignore[attr-defined]
    }
    assert set(names(SOURCES)) - told == set()


def test_every_metric_incident_and_setting_is_in_the_reference() -> None:
    reference = ROOT / "docs" / "reference"
    metrics = (reference / "metrics.md").read_text(encoding="utf-8")
    assert [str(one) for one in METRICS.values() if f"`{one}`" not in metrics] == []
    kinds = (reference / "kinds.md").read_text(encoding="utf-8")
    assert [name for name in KINDS if f"[{name}]" not in kinds] == []
    for room, folder in ((SOURCES, "sources"), (DETECTORS, "detectors")):
        pages = {file.stem for file in (reference / folder).glob("*.md")}
        assert set(names(room)) == pages
    assert set(names(COMMANDS)) >= {"watch", "status"}
