"""The live view and the other commands at a real terminal: sizes, keys, outages, hostile names."""

import re
from collections.abc import Iterator

import pytest

from fabrichealth.catalogue.ports import SYMBOL_ERRORS
from fabrichealth.kinds import LINK_SUBHEALTHY, PFC_STORM, Severity
from fabrichealth.model import Evidence, Place
from tests.fabrichealth.screens import AtTerminal
from tests.fabrichealth.terminal import Terminal
from tests.page.standing import NOW, Standing, incident, plan

ILL = "h000-0-a1/nvlink/0--sw-0/h000-0-a1"
HOSTILE = "h\x1b[31m\x1b]0;owned\x07\x1b[2J\r\n\u202e[bold]x"
"""A name that would colour, retitle, clear and reverse a terminal, and speaks rich's markup."""

DOWN, ENTER, ESCAPE = b"\x1b[B", b"\r", b"\x1b"


def harmless(sent: bytes) -> None:
    """Assert that of the control characters sent none is the hostile name's."""
    for told in (b"]0;owned\x07", b"\x1b]", b"\x07", b"\x1b[31m\x1b", b"\xe2\x80\xae"):
        assert told not in sent, told


def colours(sent: bytes) -> set[int]:
    """Return the colours that were asked for (SGR 30 to 49 and 90 to 107)."""
    every = {int(one) for found in re.findall(rb"\x1b\[([\d;]*)m", sent)
             for one in found.split(b";") if one}  # fmt: skip
    return every & {*range(30, 50), *range(90, 108)} - {39, 49}


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    one = Standing(tmp_path_factory.mktemp("site"), plan())
    one.lived(ILL, NOW - 1800)
    labels = {"device": "h000-0-a1", "port": "nvlink/0"}
    seen = Evidence(SYMBOL_ERRORS, labels, 9.0, None, "", NOW - 60, "nine symbol errors")
    one.tell(incident("i1", LINK_SUBHEALTHY, Place("link", ILL), evidence=[seen]))
    one.tell(incident("i2", PFC_STORM, Place("port", HOSTILE), Severity.TICKET))
    yield one
    one.close()


@pytest.fixture(scope="module")
def address(standing: Standing) -> str:
    return standing.serve()


def test_the_live_view_shows_and_tells_what_is_chosen_at_any_size(
    standing: Standing, address: str
) -> None:
    with AtTerminal("watch", "--url", address) as at:
        first = at.until("port_symbol_errors_total ▁").splitlines()
        assert first[0].endswith("UTC")
        assert first[1] == "live"
        assert first[2] == "2 open: 1 page, 1 ticket"
        assert "pod-a      32 links: 1 subhealthy, 31 healthy; 22 devices" in first
        assert first[-1].startswith(" up/down choose")
        assert next(line for line in first if line.startswith(">")).split()[2] == "i1"
        at.press(DOWN)
        at.until("> TICKET    i2")
        at.press(ENTER)
        story = at.until("culprit    port h\ufffd[31m\ufffd]0;owned\ufffd\ufffd[2J")
        assert "30 min ago" in story
        at.resize((200, 60))
        at.until(lambda text: len(text.splitlines()[0]) == 200)
        at.press(ESCAPE)
        at.until("> TICKET    i2")
        standing.tell(incident("i3", LINK_SUBHEALTHY, Place("link", ILL.replace("a1", "a2"))))
        at.until("3 open: 2 page, 1 ticket")
        at.press(b"q")
        assert at.end() == 0
    del standing.incidents["i3"]
    assert at.sent.index(b"\x1b[?1049h") < at.sent.index(b"\x1b[?1049l")
    harmless(at.sent)


def test_a_daemon_that_is_started_again_is_followed_on_and_its_absence_told(
    standing: Standing, address: str
) -> None:
    with AtTerminal("watch", "--url", address) as at:
        at.until("> PAGE ")
        standing.hang_up()
        away = at.until("OUT OF DATE for ")
        assert "does not answer" in away
        assert "i1" in away, "what was known is shown on"
        standing.serve(address.removeprefix("http://"))
        back = at.until("live again, after ")
        assert "2 open" in back
        at.press(b"\x03")
        assert at.end() == 0


def test_without_colour_asked_for_the_live_view_has_none(address: str) -> None:
    with AtTerminal("watch", "--url", address, NO_COLOR="1") as at:
        at.until("> PAGE ")
        at.press(b"q")
        assert at.end() == 0
    assert colours(at.sent) == set()


def test_an_absent_daemon_is_one_line(terminal: Terminal) -> None:
    said = terminal("watch", "--url", "http://127.0.0.1:9")
    assert said.status == 1
    assert "does not answer" in said.err


def test_into_a_pipe_and_on_a_dumb_terminal_it_tells_once(terminal: Terminal, address: str) -> None:
    told = terminal("watch", "--url", address).out.splitlines()
    assert told[0].startswith(f"fabrichealth  {address}")
    assert "silent     no device" in told
    assert told[-1] == "2 open: 1 page, 1 ticket"
    with AtTerminal("watch", "--url", address, TERM="dumb") as at:
        assert at.end() == 0
    assert b"\x1b" not in at.sent
    assert "2 open: 1 page, 1 ticket" in at.text


@pytest.mark.parametrize("words", [("status",), ("explain", "i2")], ids=lambda words: words[0])
def test_a_hostile_name_is_text_at_a_terminal(address: str, words: tuple[str, ...]) -> None:
    with AtTerminal(*words, "--url", address, size=(200, 60)) as at:
        assert at.end() == 0
    assert "h\ufffd[31m\ufffd]0;owned\ufffd\ufffd[2J" in at.text
    harmless(at.sent)


def test_explain_draws_the_readings_of_the_culprit_at_a_terminal(address: str) -> None:
    with AtTerminal("explain", "i1", "--url", address, size=(120, 40)) as at:
        assert at.end() == 0
    assert "readings" in at.text
    assert re.search(r"port_symbol_errors_total ▁+[▂-█]", at.text)
