"""Much happens and nothing is wrong: nobody is paged, and what is real still is told."""

from collections.abc import Callable

import pytest

from fabrichealth.catalogue.devices import BOOT_TIME
from fabrichealth.catalogue.ports import ADMIN_UP, SPEED, SYMBOL_ERRORS, UP
from fabrichealth.catalogue.watchers import LAST_SUCCESS, SOURCE_UP
from fabrichealth.kinds import LINK_DOWN, WATCH_SOURCE_SILENT, Severity
from fabrichealth.model import Incident, Port
from fabrichealth.store.embedded import EmbeddedStore
from tests.analyzer.living import START, Life, Reading, clos

HOSTS, LEAVES = 8, 2
MINUTE, HOUR = 60.0, 3600.0
TOPOLOGY = clos(HOSTS, LEAVES, per_rack=8)
DEVICES = [*(f"leaf-{n}" for n in range(LEAVES)), *(f"host-{n}" for n in range(HOSTS))]

Down = Callable[[Port, float], bool]


def lived(
    store: EmbeddedStore,
    hours: float,
    down: Down = lambda port, at: False,
    disabled: Down = lambda port, at: False,
    silent: Callable[[str, float], bool] = lambda device, at: False,
    booted: Callable[[str, float], float] = lambda device, at: 0.0,
    errors: Callable[[Port, float], float] = lambda port, at: 0.0,
) -> Life:
    """Live so long; each device is read each minute unless it is silent."""

    def law(device: str, at: float) -> list[Reading]:
        if device.startswith("watch-"):
            name = device.removeprefix("watch-")
            quiet = silent(name, at)
            heard = next((t for t in range(int(at), -1, -60) if not silent(name, float(t))), 0)
            return [(SOURCE_UP, ("prom", name), float(not quiet)),
                    (LAST_SUCCESS, ("prom", name), START + heard)]  # fmt: skip
        if silent(device, at):
            return []
        said: list[Reading] = [(BOOT_TIME, (device,), START - 86_400.0 + booted(device, at))]
        for link in TOPOLOGY.links_of[device]:
            for end in link.ends:
                if end.device == device:
                    fell = down(end, at) or down(TOPOLOGY.peer(end) or end, at)
                    off = disabled(end, at)
                    said += [
                        (UP, tuple(end), float(not (fell or off or disabled(
                            TOPOLOGY.peer(end) or end, at)))),
                        (ADMIN_UP, tuple(end), float(not off)),
                        (SPEED, tuple(end), 4e11),
                        (SYMBOL_ERRORS, tuple(end), errors(end, at)),
                    ]  # fmt: skip
        return said

    periods = {name: MINUTE for device in DEVICES for name in (device, f"watch-{device}")}
    return Life(store, TOPOLOGY, law, periods, every=MINUTE).until(hours * HOUR)


def paged(life: Life) -> list[Incident]:
    """Return what was told as a page or ticket, open or closed."""
    return [one for one in (*life.closed, *life.open) if one.confirmed_at is not None]


def wave(device: str, at: float) -> tuple[float, float] | None:
    """Return when a host of the wave goes down and comes back: one after another, 5 min each."""
    if not device.startswith("host-"):
        return None
    start = HOUR / 2 + 6 * MINUTE * int(device.removeprefix("host-"))
    return start, start + 5 * MINUTE


def in_wave(device: str, at: float) -> bool:
    span = wave(device, at)
    return span is not None and span[0] <= at < span[1]


def after_wave(device: str, at: float) -> float:
    span = wave(device, at)
    return 86_400.0 + span[1] if span is not None and at >= span[1] else 0.0


def test_a_firmware_wave_that_nobody_announced_pages_nobody(store: EmbeddedStore) -> None:
    life = lived(
        store, 2.5, down=lambda port, at: in_wave(port.device, at), silent=in_wave,
        booted=after_wave,
    )  # fmt: skip
    assert paged(life) == []
    seen = {one.culprit.id: one.suppressed_by for one in (*life.closed, *life.open)}
    assert seen == {f"host-{n}": f"boot:host-{n}" for n in range(HOSTS)}  # visible, with reason


def test_a_link_that_stays_down_after_the_wave_is_told(store: EmbeddedStore) -> None:
    left = Port("host-3", "eth1")

    def down(port: Port, at: float) -> bool:
        return in_wave(port.device, at) or (port == left and at >= (wave("host-3", at) or (0,))[0])

    life = lived(store, 2.5, down=down, silent=in_wave, booted=after_wave)
    (incident,) = paged(life)
    assert incident.kind is LINK_DOWN
    assert str(left) in incident.culprit.id


@pytest.mark.parametrize("end", [Port("host-0", "eth0"), Port("leaf-0", "0")])
def test_what_somebody_disabled_at_either_end_is_no_fault(end: Port, store: EmbeddedStore) -> None:
    life = lived(store, 1.5, disabled=lambda port, at: port == end and at > HOUR / 2)
    assert paged(life) == []


def test_what_was_never_up_is_not_missed(store: EmbeddedStore) -> None:
    assert paged(lived(store, 1.5, down=lambda port, at: port == Port("host-0", "eth0"))) == []


def test_an_outage_of_all_sources_is_one_page_about_the_watchers(store: EmbeddedStore) -> None:
    life = lived(store, 1.0, silent=lambda device, at: at > HOUR / 2)
    (incident,) = paged(life)
    assert incident.kind is WATCH_SOURCE_SILENT
    assert incident.culprit.id == "prom"
    assert incident.severity is Severity.PAGE


def test_a_hole_in_the_history_is_no_fault_of_the_fabric(store: EmbeddedStore) -> None:
    def silent(device: str, at: float) -> bool:
        return HOUR / 2 < at < HOUR

    life = lived(store, 2.0, silent=silent)
    assert {one.kind for one in paged(life)} <= {WATCH_SOURCE_SILENT}


def test_idle_links_with_a_stray_error_are_quiet(store: EmbeddedStore) -> None:
    def one_error(port: Port, at: float) -> float:
        return float(port == Port("host-0", "eth0") and at > HOUR)

    assert paged(lived(store, 2.0, errors=one_error)) == []
