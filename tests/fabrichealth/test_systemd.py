"""What systemd asks for and is told, beyond what a started unit shows (tests/deploy)."""

import os

import pytest

from fabrichealth.runtime.systemd import notify, watched


@pytest.mark.parametrize(
    ("span", "whom", "seconds"),
    [
        ("120000000", "", 120.0),
        ("500000", "ours", 0.5),
        ("500000", "1", None),  # meant for another process, such as our parent
        ("0", "", None),
        ("soon", "", None),
        ("", "", None),
    ],
)
def test_signs_of_life_are_given_where_they_are_wanted(
    span: str, whom: str, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", span)
    monkeypatch.setenv("WATCHDOG_PID", whom.replace("ours", str(os.getpid())))
    assert watched() == seconds


def test_a_manager_that_is_gone_hinders_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "/nowhere/notify")
    assert not notify("READY=1")
