"""Errors that accelerators count: which are fatal, and for how long they are news."""

import pytest

from analyzer.detectors.accelerator_errors import AcceleratorErrors, AcceleratorErrorsSettings
from fabrichealth.catalogue.accelerators import ERRORS
from fabrichealth.events import Event
from fabrichealth.kinds import Severity
from fabrichealth.model import Finding, Place
from tests.analyzer.views import START, History, view_of

POLLS = 60
GPU = "host-0-3"


def counted(at: int, times: float = 1.0, start: float = 0.0) -> list[float]:
    """Return a counter that rose at one poll."""
    return [start + times * (n >= at) for n in range(POLLS)]


def judge(history: History, *events: Event, period: float = 60.0) -> list[Finding]:
    detector = AcceleratorErrors(AcceleratorErrorsSettings())
    return list(detector.judge(view_of(detector, history, period, events=events)))


@pytest.mark.parametrize("code", [48, 79, 95, 119, 120])
def test_fatal_codes_page(code: int) -> None:
    (finding,) = judge({(ERRORS, (GPU, f"xid:{code}")): counted(58)})
    assert finding.about == Place("device", GPU)
    assert finding.rank is Severity.PAGE
    assert "fatal" in finding.because


@pytest.mark.parametrize("code", [13, 31, 43, 45, 63, 94, 149])
def test_other_codes_are_watched(code: int) -> None:
    (finding,) = judge({(ERRORS, (GPU, f"xid:{code}")): counted(58)})
    assert finding.rank is Severity.WATCH


@pytest.mark.parametrize(
    ("code", "fatal", "severity"),
    [
        ("xid:13", True, Severity.PAGE),
        ("xid:79", False, Severity.WATCH),
        ("ascend:80E01801", True, Severity.PAGE),
    ],
)
def test_the_devices_own_log_overrules_the_table(
    code: str, fatal: bool, severity: Severity
) -> None:
    log = Event(START + 3400, "device_log", {"device": GPU}, more={"code": code, "fatal": fatal})
    (finding,) = judge({(ERRORS, (GPU, code)): counted(57)}, log)
    assert finding.rank is severity


def test_a_log_of_another_device_or_code_decides_nothing() -> None:
    logs = [
        Event(START + 3400, "device_log", {"device": device}, more={"code": code, "fatal": True})
        for device, code in (("host-0-4", "xid:13"), (GPU, "xid:31"))
    ]
    (finding,) = judge({(ERRORS, (GPU, "xid:13")): counted(57)}, *logs)
    assert finding.rank is Severity.WATCH


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([7.0] * POLLS, id="an old count"),
        pytest.param([7.0] * 58 + [0.0] * 2, id="a reset"),
        pytest.param(counted(30), id="half an hour ago"),
        pytest.param([float("nan")] * 58 + [7.0, 7.0], id="first seen now"),
    ],
)
def test_only_recent_increases_count(values: list[float]) -> None:
    assert judge({(ERRORS, (GPU, "xid:79")): values}) == []


def test_errors_of_one_accelerator_are_one_finding_with_a_line_for_each() -> None:
    history: History = {
        (ERRORS, (GPU, "xid:79")): counted(57, times=2),
        (ERRORS, (GPU, "xid:45")): counted(58),
        (ERRORS, ("host-1-0", "xid:13")): counted(58),
    }
    both = {str(one.about): one for one in judge(history)}
    assert both.keys() == {GPU, "host-1-0"}
    assert [line.value for line in both[GPU].evidence] == [2.0, 1.0]
    assert "fallen off the bus) x2" in both[GPU].because


@pytest.mark.parametrize(("code", "links"), [("xid:145", 1.0), ("xid:74", 1.0), ("xid:79", 0.0)])
def test_codes_of_the_link_are_marked_as_such(code: str, links: float) -> None:
    (finding,) = judge({(ERRORS, (GPU, code)): counted(58)})
    assert finding.detail["link_codes"] == links


def test_an_accelerator_that_is_silent_since_is_news_all_the_same() -> None:
    """It counted xid 79 and was never heard again."""
    gone = [*counted(50)[:52], *[float("nan")] * 8]
    assert (
        len(judge({(ERRORS, (GPU, "xid:79")): gone, (ERRORS, ("x", "xid:31")): [0.0] * POLLS})) == 1
    )
