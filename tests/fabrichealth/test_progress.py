"""Progress bars: on stderr, at a terminal only, and out of the way of what is printed."""

import json
import os
import pty
import select
import sys
from pathlib import Path

import pyte
import pytest

from fabrichealth.cli import _terminal
from fabrichealth.cli._progress import progress
from tests.fabrichealth.screens import AtTerminal


@pytest.fixture
def history(tmp_path: Path) -> tuple[Path, Path]:
    """Ten minutes of a link that goes down for good; its topology."""
    up = [1] * 30 + [0] * 30
    lines = [
        {
            "metric": {"__name__": "fabric_port_up", "device": device, "port": "1"},
            "values": up,
            "timestamps": [1_790_000_000_000 + 10_000 * poll for poll in range(60)],
        }
        for device in ("a", "b")
    ]
    path = tmp_path / "history.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    topology = tmp_path / "topology.yaml"
    topology.write_text(
        "devices: [{name: a, role: switch}, {name: b, role: switch}]\nlinks: [{a: a/1, b: b/1}]\n"
    )
    return path, topology


def test_a_replay_shows_how_far_it_is_and_leaves_its_output_alone(
    history: tuple[Path, Path],
) -> None:
    words = ("replay", history[0], "--topology", history[1], "--json")
    with AtTerminal(*words, piped=True) as at:
        (told,) = map(json.loads, at.piped().splitlines())
    assert told["kind"] == "link.down"
    assert b"judging" in at.sent
    assert b"%" in at.sent
    assert at.text.strip() == "", "the bar goes when it is done"


def test_what_is_printed_meanwhile_stands_in_lines_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(theirs, "w") as out, os.fdopen(ours, "rb", buffering=0) as shown:
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", out)
        with progress("work", 2.0) as far:
            _terminal.say("one")
            far(1.0)
            _terminal.tell({"two": 2})
            _terminal.warn("three")
        out.flush()
        screen = pyte.Screen(80, 10)
        stream = pyte.ByteStream(screen)
        while select.select([shown], [], [], 1.0)[0]:  # a terminal gives it in pieces
            stream.feed(shown.read(65_536))
    told = [line.rstrip() for line in screen.display if line.strip()]
    assert told == ["one", '{"two":2}', "fabrichealth: three"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of one target, which does not answer."""
    site = tmp_path / "site.yaml"
    site.write_text(
        "state: state\nsources: {prom: {timeout: 1s}}\n"
        "targets:\n  - {name: x, source: prom, address: 'http://127.0.0.1:9/metrics'}\n"
    )
    return site


def test_a_probe_shows_how_many_targets_it_visited(site: Path) -> None:
    with AtTerminal("check", "-c", site, "--probe") as at:
        assert at.end() == 1
    assert b"targets" in at.sent
    assert "0 of 1 targets answered" in at.text


def test_on_a_dumb_terminal_there_is_no_bar(site: Path) -> None:
    with AtTerminal("check", "-c", site, "--probe", TERM="dumb") as at:
        assert at.end() == 1
    assert b"\x1b" not in at.sent
