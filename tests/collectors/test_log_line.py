"""Lines of logs, in every form that a log is kept in."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols.log_line import KERNEL, LONGEST, line
from collectors.protocols.syslog_frames import Frames

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()
TEXT = "mlx5_core 0000:3b:00.0 eth0: Link down"


def stamp(year: int, month: int, day: int, hour: int, minute: int = 0, second: int = 0) -> float:
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("raw", "at", "host"),
    [
        pytest.param(
            f"[Sun Feb  1 10:20:30 2026] {TEXT}", stamp(2026, 2, 1, 10, 20, 30), "", id="dmesg -T"
        ),
        pytest.param(
            f"2026-02-01T10:20:30,500000+01:00 {TEXT}",
            stamp(2026, 2, 1, 9, 20, 30) + 0.5,
            "",
            id="dmesg iso",
        ),
        pytest.param(
            f"Feb  1 10:20:30 h1 kernel: [ 12.5] {TEXT}",
            stamp(2026, 2, 1, 10, 20, 30),
            "h1",
            id="syslog file",
        ),
        pytest.param(
            f"<4>Feb  1 10:20:30 h1 kernel: {TEXT}",
            stamp(2026, 2, 1, 10, 20, 30),
            "h1",
            id="RFC 3164",
        ),
        pytest.param(
            f"Dec 31 23:59:59 h1 kernel: {TEXT}",
            stamp(2025, 12, 31, 23, 59, 59),
            "h1",
            id="last year's",
        ),
        pytest.param(
            f"Mar  2 01:00:00 h1 kernel: {TEXT}",
            stamp(2026, 3, 2, 1),
            "h1",
            id="a clock ahead by hours",
        ),
        pytest.param(
            f"Feb 29 01:00:00 h1 kernel: {TEXT}", stamp(2024, 2, 29, 1), "h1", id="a leap day"
        ),
        pytest.param(
            f'<4>1 2026-02-01T10:20:30.5Z h1 kernel 7 - [a@1 b="]x"] {TEXT}',
            stamp(2026, 2, 1, 10, 20, 30) + 0.5,
            "h1",
            id="RFC 5424",
        ),
        pytest.param(
            f"<4>1 - - kernel - - - {TEXT}", None, "", id="RFC 5424 that says nothing but its text"
        ),
        pytest.param(
            f"2026-02-01T10:20:30.123456+00:00 h1 kernel: {TEXT}",
            stamp(2026, 2, 1, 10, 20, 30) + 0.123456,
            "h1",
            id="rsyslog",
        ),
        pytest.param(
            f'{{"MESSAGE":"{TEXT}","__REALTIME_TIMESTAMP":"1769941230500000","_HOSTNAME":"h1"}}',
            1769941230.5,
            "h1",
            id="journal",
        ),
    ],
)
def test_a_line_says_when_and_by_whom(raw: str, at: float | None, host: str) -> None:
    found = line(raw, NOW)
    assert found is not None
    assert (found.text, found.host, found.speaker) == (TEXT, host, KERNEL)
    assert found.at == pytest.approx(at) if at is not None else found.at is None


@pytest.mark.parametrize(
    ("raw", "speaker"),
    [
        pytest.param("Feb  1 10:20:30 h1 sshd[3]: x", "sshd", id="a program's tag"),
        pytest.param("<13>Feb  1 10:20:30 h1 kernel: x", "", id="logger that calls itself kernel"),
        pytest.param("<13>1 - h1 kernel - - - x", "", id="the same by RFC 5424"),
        pytest.param("<11>[   98.7] x", "", id="dmesg -r of a program"),
        pytest.param("12,1,2,-;systemd[1]: x", "systemd", id="a program in the kernel's ring"),
        pytest.param("12,1,2,-;kernel: x", "", id="one that calls itself kernel there"),
        pytest.param('{"MESSAGE":"x","_TRANSPORT":"kernel"}', "kernel", id="journal"),
        pytest.param(
            '{"MESSAGE":"x","_TRANSPORT":"syslog","SYSLOG_IDENTIFIER":"kernel","_COMM":"logger"}',
            "logger",
            id="journal that knows better",
        ),
        pytest.param(
            '{"MESSAGE":"x","_TRANSPORT":"syslog","SYSLOG_IDENTIFIER":"kernel"}', "", id="no more"
        ),
        pytest.param(
            '{"MESSAGE":"x","_TRANSPORT":"stdout","_SYSTEMD_UNIT":"nvidia-fabricmanager.service"}',
            "nvidia-fabricmanager",
            id="a unit",
        ),
        pytest.param(
            "Feb  1 10:20:30.5 leaf-1 NOTICE swss#orchagent: x", "swss#orchagent", id="SONiC"
        ),
        pytest.param(
            "Feb 01 10:20:30 123456 [7F8E1700] 0x02 -> x", "opensm", id="subnet manager's own"
        ),
        pytest.param("[Feb 25 2025 13:59:45] [ERROR] x", "nv-fabricmanager", id="fabric manager's"),
        pytest.param("2026-02-01T10:20:30Z h1 cron[1]: x", "cron", id="rsyslog"),
    ],
)
def test_who_speaks_is_what_a_writer_cannot_choose(raw: str, speaker: str) -> None:
    found = line(raw, NOW)
    assert found is not None
    assert found.speaker == speaker


@pytest.mark.parametrize(
    "raw",
    [
        "Feb 30 10:00:00 h1 kernel: x",
        "2026-02-30T10:00:00Z h1 kernel: x",
        "[Feb 30 2026 10:00:00] x",
        "<4>1 2026-02-30T10:00:00Z h1 kernel - - - x",
    ],
)
def test_a_day_that_does_not_exist_is_said(raw: str) -> None:
    found = line(raw, NOW)
    assert found is not None
    assert (found.at, found.misdated) == (None, True)


def test_the_kernels_own_records_count_from_boot() -> None:
    ring = line(f"4,1205,98765432,-;{TEXT}\n SUBSYSTEM=pci\n", NOW)
    plain = line(f"[   98.765432] {TEXT}", NOW)
    for found in (ring, plain):
        assert found is not None
        assert (found.text, found.at, found.since_boot) == (TEXT, None, 98.765432)


def test_the_fabric_managers_tags_stay_in_its_text() -> None:
    found = line("[Feb 25 2025 13:59:45] [ERROR] [tid 7] detected a thing", NOW)
    assert found is not None
    assert found.text == "[ERROR] [tid 7] detected a thing"
    assert found.at == stamp(2025, 2, 25, 13, 59, 45)


def test_a_message_that_is_not_utf_8_is_bytes_in_the_journal() -> None:
    found = line('{"MESSAGE":[72,105,255]}', NOW)
    assert found is not None
    assert found.text == "Hi\ufffd"


@pytest.mark.parametrize("raw", ["", "a sentence", "{", '{"MESSAGE2":1}', "[x] y"])
def test_what_has_no_form_of_a_log_is_none(raw: str) -> None:
    assert line(raw, NOW) is None


DATES = st.from_regex(r"\[?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d( \d{4})?\]? h k: x", fullmatch=True)


@given(st.text() | DATES | st.from_regex(r"\d{1,10},\d{1,20},\d{1,18},-;.*"), st.floats(0, 1e11))
def test_any_text_is_a_line_or_none(raw: str, now: float) -> None:
    found = line(raw, now)
    assert found is None or len(found.text) <= LONGEST


@given(
    messages=st.lists(
        st.binary(min_size=1, max_size=40).map(lambda m: b"<" + m.replace(b"\n", b""))
    ),
    counted=st.booleans(),
    data=st.data(),
)
def test_messages_are_whole_however_the_bytes_come(
    messages: list[bytes], counted: bool, data: st.DataObject
) -> None:
    sent = b"".join(b"%d %b" % (len(m), m) if counted else m + b"\n" for m in messages)
    frames, heard = Frames(100), []
    while sent:
        cut = data.draw(st.integers(1, len(sent)))
        heard += frames.feed(sent[:cut])
        sent = sent[cut:]
    assert heard == messages


@given(st.lists(st.binary(max_size=300)))
def test_any_bytes_of_a_sender_are_messages_of_bounded_length(parts: list[bytes]) -> None:
    frames = Frames(50)
    assert all(0 < len(message) <= 50 for part in parts for message in frames.feed(part))


def test_a_message_too_long_to_hold_is_cut_and_the_next_one_is_whole() -> None:
    frames = Frames(5)
    assert frames.feed(b"<123456789") == [b"<1234"]
    assert frames.feed(b"still\n<n>\n") == [b"<n>"]
    assert Frames(5).feed(b"9 <234567893 <n>") == [b"<2345", b"<n>"]
