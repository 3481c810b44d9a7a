"""Long runs: kept case by case, shared out, gone on with; layers are put back."""

import importlib
import json
import sys
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.scoring import Matched, Met, Told, Truth
from benchmarks.corpus.scene import Scene, scene
from benchmarks.kept import Keeper, of_json, shard, to_json
from benchmarks.layers import LAYERS, without
from benchmarks.quiet_fleet import counted, of_all
from benchmarks.verdict_tables import added, by_case, headline, summed
from benchmarks.verdicts import judged, kept_name, main
from fabrichealth.cli._corpus import Judged
from fabrichealth.kinds import Severity

TRUTH = Truth("link.down", "a/1--b/1", 10.0, 90.0, victims=("j1",), cause="unknown", must_page=True)


def told(severity: Severity = Severity.PAGE, closed: float = inf) -> Told:
    causes = (("unknown", 0.6), ("power", 0.4))
    return Told("i1", "link.down", severity, "a/1--b/1", None, 12.0, 14.0, closed, 14.0,
                ("j1",), "unknown", causes, because="it is down")  # fmt: skip


CASE = Judged(
    "roce-down",
    Matched([Met(TRUTH, told()), Met(TRUTH, None)], [told(closed=50.0)], [], [told()], []),
    links=8,
    seconds=3600.0,
    passes=7,
)


def test_a_case_is_read_back_as_it_was(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    keeper.keep("case", to_json(CASE))
    assert of_json(keeper.find("case")) == CASE
    assert list(keeper.names("ca")) == ["case"]


@pytest.mark.parametrize("spoiled", ["", "{", "[]", '{"sources": "other", "result": 1}'])
def test_what_is_cut_short_or_of_other_sources_is_worked_out_again(
    tmp_path: Path, spoiled: str
) -> None:
    (tmp_path / "case.json").write_text(spoiled, encoding="utf-8")
    assert Keeper(tmp_path).find("case") is None
    assert Keeper(None).find("case") is None


def test_what_other_sources_gave_can_be_printed(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    keeper.keep("case", 5)
    path = tmp_path / "case.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "sources": "older"}))
    assert (keeper.find("case"), Keeper(tmp_path, any_sources=True).find("case")) == (None, 5)


@given(st.integers(1, 9), st.integers(0, 60))
def test_shards_share_everything_out_and_nothing_twice(of: int, cases: int) -> None:
    every = list(range(cases))
    shares = [every[number - 1 :: of] for number, of in
              (shard(f"{i}/{of}") for i in range(1, of + 1))]  # fmt: skip
    assert sorted(chain.from_iterable(shares)) == every


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="i/n"):
        shard(text)


def in_force() -> tuple[Any, Any]:
    peers = importlib.import_module("analyzer.evidence.link.peers")
    return vars(importlib.import_module("analyzer.judge"))["explained"], vars(peers)["group_spread"]


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_that_was_taken_out_is_put_back(name: str) -> None:
    explained, group_spread = in_force()
    with without(name):
        now = in_force()
        assert (now[0] is not explained) == (name == "grouping")
        assert (now[1] is not group_spread) == (name == "peers")
    assert in_force() == (explained, group_spread)


def tiny(seed: int) -> Scene:
    """Return three quarters of an hour of eight copper links, one of which goes down."""
    made = scene("dac", seed, days=0.03, period=120.0, hosts=2, busy=False)
    began, ended = made.moment(0.5), float(made.at[-1]) + 120.0
    made.truths.append(made.spoil_one(made.hall.runs[3], "down", 1, began, ended, 0))
    return made


@pytest.fixture
def tiny_corpus(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("benchmarks.corpus.cases.cases", lambda: {"dac-tiny": tiny})
    monkeypatch.setattr("benchmarks.verdicts.cases", lambda: {"dac-tiny": tiny})
    return "dac-tiny"


def test_what_is_kept_is_not_judged_again(tiny_corpus: str, tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    first = list(judged([tiny_corpus], 1, (), 1, inf, keeper))
    again = list(judged([tiny_corpus], 1, (), 1, -inf, keeper))  # nothing may begin
    assert again == first
    assert list(keeper.names()) == [kept_name(tiny_corpus, 1, "")]


def test_every_way_of_the_evaluation_ends_on_a_tiny_corpus(
    tiny_corpus: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = ["--keep", str(tmp_path), "--errors", "--ablate", "--without", "link_flapping"]
    monkeypatch.setattr(sys, "argv", ["verdicts", *asked, "--jobs", "1"])
    main()
    shown = capsys.readouterr().out
    assert "1 of 1 cases" in shown
    for name in (*LAYERS, "link_flapping"):
        assert f"without {name}" in shown
    (_, recall, *_) = next(line for line in shown.splitlines() if "| all " in line).split("|")[1:]
    assert recall.strip() == "1"
    assert len(list(Keeper(tmp_path).names(tiny_corpus))) == 1 + len(LAYERS)


def test_tables_are_of_what_was_counted() -> None:
    whole = summed([CASE])
    assert (whole.recall.hits, whole.recall.n, len(whole.false)) == (1, 2, 1)
    assert "| down " in by_case([CASE])
    assert "1/2" in headline(whole)
    assert "without peers" in added(whole, {"peers": whole})


def test_a_quiet_hall_is_counted_once(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path)
    (one,) = counted([5], 16, 0.01, 1, keeper)
    assert list(counted([5], 16, 0.01, 1, keeper)) == [one]
    assert of_all(keeper) == [one]
    assert one.links * one.weeks == pytest.approx(0.16)
