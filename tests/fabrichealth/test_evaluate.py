"""`evaluate`: labelled histories on disk, replayed by the real analyzer and scored."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fabrichealth.catalogue.ports import ADMIN_UP, UP
from tests.fabrichealth.terminal import Terminal

START, STEP, POLLS = 1_767_225_600, 60, 90
FELL, ROSE = 20, 60
TOPOLOGY = """\
devices: [{name: leaf-01, role: switch}, {name: h1, role: host}, {name: h2, role: host}]
links:
  - {a: leaf-01/1, b: h1/eth0}
  - {a: leaf-01/2, b: h2/eth0}
"""
DOWN = {
    "kind": "link.down", "culprit": {"type": "link", "id": "h1/eth0--leaf-01/1"},
    "from": START + FELL * STEP, "until": START + ROSE * STEP, "must_page": True,
}  # fmt: skip


def corpus(folder: Path, truth: Iterable[dict[str, Any]], falls: bool = True) -> Path:
    """Write a corpus of two links, of which the first is down for 40 minutes."""
    folder.mkdir(parents=True)
    (folder / "topology.yaml").write_text(TOPOLOGY)
    (folder / "events.jsonl").write_text("")
    (folder / "truth.jsonl").write_text("".join(json.dumps(one) + "\n" for one in truth))
    at = [(START + number * STEP) * 1000 for number in range(POLLS)]
    with gzip.open(folder / "history.jsonl.gz", "wt") as file:
        for device, port in (("leaf-01", "1"), ("h1", "eth0"), ("leaf-01", "2"), ("h2", "eth0")):
            ill = falls and (device, port) in {("leaf-01", "1"), ("h1", "eth0")}
            up = [0 if ill and FELL <= number < ROSE else 1 for number in range(POLLS)]
            for metric, values in ((UP, up), (ADMIN_UP, [1] * POLLS)):
                labels = {"__name__": str(metric), "device": device, "port": port}
                line = {"metric": labels, "values": values, "timestamps": at}
                file.write(json.dumps(line) + "\n")
    return folder


def test_a_link_that_fell_is_found_on_time_with_its_rates(
    terminal: Terminal, tmp_path: Path
) -> None:
    one, whole = terminal("evaluate", corpus(tmp_path / "c", [DOWN]), "--json").objects
    assert one["corpus"] == str(tmp_path / "c")
    assert one["met"][0]["incident"]["kind"] == "link.down"
    assert one["met"][0]["delay"] <= 3 * STEP
    assert whole["corpus"] is None
    assert (whole["recall"]["value"], whole["precision"]["value"]) == (1.0, 1.0)
    assert whole["paged"]["hits"] == 1
    assert whole["link_weeks"] == pytest.approx(2 * (POLLS - 1) * STEP / 604_800)


def test_the_same_history_called_quiet_makes_the_page_false(
    terminal: Terminal, tmp_path: Path
) -> None:
    folder = corpus(tmp_path / "c", [{"quiet": True}])
    one, whole = terminal("evaluate", folder, "--json").objects
    assert [told["culprit"] for told in one["false_incidents"]] == ["h1/eth0--leaf-01/1"]
    assert whole["false_pages"]["events"] == 1
    assert whole["recall"]["value"] is None


def test_people_get_a_table_by_kind(terminal: Terminal, tmp_path: Path) -> None:
    said = terminal("evaluate", corpus(tmp_path / "c", [DOWN]))
    assert said.status == 0
    assert "| link.down" in said.out


def test_a_folder_of_corpora_is_all_of_them_on_two_processes_too(
    terminal: Terminal, tmp_path: Path
) -> None:
    corpus(tmp_path / "all" / "a", [DOWN])
    corpus(tmp_path / "all" / "b", [{"quiet": True}], falls=False)
    *each, whole = terminal("evaluate", tmp_path / "all", "--json", "--jobs", 2).objects
    assert [Path(one["corpus"]).name for one in each] == ["a", "b"]
    assert (whole["corpora"], whole["found"], whole["false"]) == (2, 1, 0)


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (lambda folder: (folder / "truth.jsonl").write_text("{}\n"), "truth.jsonl: line 1"),
        (lambda folder: (folder / "topology.yaml").unlink(), "topology.yaml"),
        (lambda folder: (folder / "history.jsonl.gz").unlink(), "holds no history"),
        (lambda folder: (folder / "history.jsonl.gz").write_text(""), "holds no reading"),
        (lambda folder: (folder / "topology.yaml").write_text("links: [{a: x}]"), "yaml:1"),
    ],
)  # fmt: skip
def test_a_broken_corpus_loses_only_itself(
    terminal: Terminal, tmp_path: Path, broken: Any, named: str
) -> None:
    broken(corpus(tmp_path / "a", [DOWN]))
    corpus(tmp_path / "b", [DOWN])
    said = terminal("evaluate", tmp_path / "a", tmp_path / "b", "--json")
    assert said.status == 1
    assert named in said.err
    assert [one["found"] for one in said.objects] == [1, 1]


def test_no_processes_at_all_is_wrong_usage(terminal: Terminal, tmp_path: Path) -> None:
    said = terminal("evaluate", corpus(tmp_path / "a", [DOWN]), "--jobs", "0")
    assert (said.status, said.out) == (2, "")
