"""There is one catalogue, and nobody else types its names."""

import ast
import re

import pytest

from collectors.maps.page_rules import all_maps
from fabrichealth.catalogue import METRICS
from fabrichealth.kinds import KINDS, Cause
from fabrichealth.metric import PREFIX
from tests.house.checkout import ROOT, modules, named

CONTRACT = ROOT.parent / "shared" / "reference" / "catalogue.md"

READERS = ("fabrichealth", "collectors", "analyzer", "dashboards", "alerts")
"""Rooms that refer to the constants. The emulator is left out: it plays foreign exporters, which
type their own names, and sharing ours with the decoders would prove nothing."""

NAME = re.compile(rf"\b{PREFIX}[a-z]")

BARE = {metric.name for metric in METRICS.values()}


def sentences(tree: ast.AST) -> set[int]:
    """Return the ids of the strings that stand alone: docstrings, which may speak of names."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def quoted_names(source: str) -> list[tuple[int, str]]:
    """Return line and text of every string of a module that spells a metric's name."""
    tree = ast.parse(source)
    free = sentences(tree)
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in free
        and (NAME.search(node.value) or node.value in BARE)
    ]


def test_nobody_types_a_metric_name_in_quotes() -> None:
    typed = {
        named(file): quoted_names(file.read_text(encoding="utf-8"))
        for file in modules(*READERS)
        if not named(file).startswith("fabrichealth/catalogue/")
    }
    assert {name: strings for name, strings in typed.items() if strings} == {}


@pytest.mark.parametrize(
    "source",
    [
        'x = "fabric_port_up"',
        'x = f"rate(fabric_port_up[5m]) > {limit}"',
        'names = ["optics_rx_power_dbm"]',
        'x = {"fabric_no_such_metric": 1}',
    ],
)
def test_a_name_in_quotes_is_found(source: str) -> None:
    assert len(quoted_names(source)) == 1


def test_docstrings_may_speak_of_names() -> None:
    assert quoted_names('"""Reads fabric_port_up."""\nX = 1\n"""As fabric_port_up."""') == []


def test_page_maps_speak_of_the_catalogue_only() -> None:
    """Data cannot refer to constants; a map with a wrong name does not load."""
    assert all_maps()


@pytest.mark.skipif(not CONTRACT.exists(), reason="the contract's text is not beside this checkout")
class TestContract:
    def test_every_name_of_the_contract_is_in_the_catalogue(self) -> None:
        names = re.findall(
            rf"\b{PREFIX}[a-z0-9_]+", _part("# The metric catalogue", "# Kinds of incident")
        )
        assert len(names) > 100
        assert set(names) - METRICS.keys() == set()

    def test_kinds_are_those_of_the_contract(self) -> None:
        part = _part("# Kinds of incident", "# Causes")
        assert set(re.findall(r"[a-z]+\.[a-z_]+", part)) == KINDS.keys()

    def test_causes_are_those_of_the_contract(self) -> None:
        part = _part("# Causes", "\x00").split("`")[1]
        assert part.split() == [cause.value for cause in Cause]


def _part(start: str, end: str) -> str:
    """Return the contract's text between two headings."""
    return CONTRACT.read_text(encoding="utf-8").partition(start)[2].partition(end)[0]
