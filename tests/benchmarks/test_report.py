"""The report: figures come from results, pages keep their words, pictures are drawn."""

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.scoring import Matched, Met
from benchmarks import report
from benchmarks.kept import Keeper, to_json
from benchmarks.pictures import reliability
from benchmarks.quiet_fleet import kept_name
from benchmarks.report import BEGIN, END, between, main
from fabrichealth.cli._corpus import Judged
from tests.benchmarks.test_kept import CASE, TRUTH, told


def elements(picture: str) -> list[str]:
    root = ET.fromstring(picture)  # noqa: S314  # drawn just now
    return [one.tag.rpartition("}")[2] for one in root.iter()]


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    folder = tmp_path / "kept"
    keeper = Keeper(folder)
    keeper.keep("roce-down.seed-1", to_json(CASE))
    worse = Judged("roce-down", Matched([Met(TRUTH, None)], [told()]), 8, 3600.0, 7)
    keeper.keep("roce-down.seed-1.without-physics", to_json(worse))
    hall = {"links": 16, "weeks": 2.0, "series": 100, "suppressed": 3, "watched": 1,
            "false": [["link.down", "page", "it seemed down"]]}  # fmt: skip
    keeper.keep(kept_name(1, 16, 2.0), hall)
    return folder


def test_figures_are_those_of_the_results(
    kept: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["report", str(kept)])
    assert main() == 0
    shown = capsys.readouterr().out
    assert "1 cases of a corpus of" in shown
    assert "1/2" in shown  # one truth of two was found
    assert "without physics" in shown
    assert "on 32 quiet link-weeks" in shown
    assert "(1 in 0.0032)" in shown  # false pages in units of 10,000 link-weeks


def marked(word: str, figures: str) -> str:
    return f"{BEGIN.replace('figures', word)}\n{figures}\n{END.replace('figures', word)}"


WORDS = ("figures", "layers", "quiet")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "page.md"
    body = "\n".join(marked(word, f"{word} of last year") for word in WORDS)
    found.write_text(f"before\n{body}\nafter\n", encoding="utf-8")
    for name, path in (("README", found), ("EVALUATION", found), ("PICTURES", tmp_path / "seen")):
        monkeypatch.setattr(report, name, path)
    return found


def test_pages_get_the_figures_between_their_marks(
    kept: Path, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "cases", lambda: {"roce-down": None})
    monkeypatch.setattr(sys, "argv", ["report", str(kept), "--write"])
    assert main() == 0
    text = page.read_text("utf-8")
    assert text.startswith(f"before\n{BEGIN}\n")
    assert text.endswith("<!-- quiet: end -->\nafter\n")
    assert "last year" not in text
    assert "without physics" in text
    drawn = page.parent / "seen" / "causes.svg"
    assert elements(drawn.read_text("utf-8"))[0] == "svg"


def test_a_part_of_the_corpus_does_not_take_the_place_of_the_whole(
    kept: Path, page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["report", str(kept), "--write"])
    assert main() == 0
    text = page.read_text("utf-8")
    assert [word for word in WORDS if f"{word} of last year" in text] == ["figures"]
    assert "the tables of the whole stay" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN, BEGIN + END + BEGIN + END])
def test_a_page_without_marks_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="once each"):
        between(text, "figures")


def test_nothing_kept_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["report", str(tmp_path)])
    assert main() == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40))
def test_a_picture_has_a_dot_for_every_bin_that_holds_anything(
    claims: list[tuple[float, bool]],
) -> None:
    picture = ET.fromstring(reliability("a & b", claims))  # noqa: S314  # drawn just now
    dots = [one for one in picture.iter() if one.tag.endswith("circle")]
    assert len(dots) == len({min(int(said * 10), 9) for said, _ in claims})
    for dot in dots:
        assert 0 <= float(dot.attrib["cx"]) <= 360
        assert 0 <= float(dot.attrib["cy"]) <= 360
