"""What was done to the fabric is told for ten minutes, so that boards can draw it."""

from analyzer.verdicts import LONGEST_NOTE, MOST_SHOWN, SHOWN, happened
from fabrichealth.catalogue.verdicts import EVENT_ACTIVE
from fabrichealth.events import Event

NOW = 1e9


def test_an_event_is_told_for_ten_minutes_from_its_moment_on() -> None:
    event = Event(
        NOW, "part_replaced", {"device": "leaf-1", "port": "Ethernet8"}, note="new module"
    )
    assert happened([event], NOW - 1) == []
    for later in (0.0, SHOWN - 1):
        (told,) = happened([event], NOW + later)
        labels = ("part_replaced", "device leaf-1, port Ethernet8", "new module")
        assert told == (EVENT_ACTIVE, labels, 1.0)
    assert happened([event], NOW + SHOWN) == []


def test_the_same_said_twice_is_one_series() -> None:
    events = [Event(NOW + n, "boot", {"device": "h1"}) for n in range(3)]
    assert len(happened(events, NOW + 5)) == 1


def test_a_flood_of_events_is_bounded_and_the_newest_are_told() -> None:
    events = [Event(NOW + n / 10, "boot", {"device": f"h{n}"}, note="x" * 500) for n in range(900)]
    told = happened(events, NOW + 90)
    assert len(told) == MOST_SHOWN
    assert {labels[1] for _, labels, _ in told} == {f"device h{n}" for n in range(800, 900)}
    assert {len(labels[2]) for _, labels, _ in told} == {LONGEST_NOTE}
