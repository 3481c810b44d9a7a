"""A part's history follows its serial: whose going was a cure, and who took the illness along."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from analyzer.detectors.parts_bad_batch import PartsBadBatch, PartsBadBatchSettings
from analyzer.evidence.parts.findings import blamed
from analyzer.evidence.parts.history import History, history
from fabrichealth.catalogue.optics import OPTICS_INFO
from fabrichealth.catalogue.ports import FEC_CORRECTED_BITS, UP
from fabrichealth.model import Labels, Place, Port, View
from fabrichealth.topology import Device, Link, Module, Topology
from tests.analyzer.views import START, view_of

PERIOD = 600.0
HOURS = 12
POLLS = int(HOURS * 3600 / PERIOD)
LINE = 425e9
ILL, WELL = 3e-5, 1e-9
"""Of wrong bits; the warning of such a link is 1e-5."""

OTHER = Module(vendor="Lumen", part="L400", lot="2418")
HOSTS = 30
PORTS = [Port(f"host-{n}", "eth0") for n in range(HOSTS)]
Stay = tuple[str, str, float, float, float]
"""Serial, lot, from and to which hour, and the ratio of wrong bits meanwhile."""


def module(serial: str, lot: str) -> Labels:
    values = {"device": "", "port": "", "vendor": "Lumen", "part": "L400", "serial": serial,
              "lot": lot}  # fmt: skip
    return tuple(values.get(name, "") for name in OPTICS_INFO.labels)[2:]


def fabric() -> Topology:
    devices = [Device(name="leaf-0", role="switch")]
    devices += [Device(name=port.device, role="host") for port in PORTS]
    links = [
        Link(a=str(port), b=f"leaf-0/{n}", technology="roce", speed_gbps=400, lanes=4,
             medium="optical", fec="rs544", module_a=OTHER)
        for n, port in enumerate(PORTS)
    ]  # fmt: skip
    return Topology(devices, links)


def seen(stays: Mapping[Port, Sequence[Stay]]) -> tuple[View, PartsBadBatch]:
    """Return what the detector sees after half a day; ports not named are well throughout."""
    at = np.arange(POLLS) * PERIOD / 3600.0
    made: dict[object, list[float]] = {}
    for number, port in enumerate(PORTS):
        ratio = np.full(POLLS, WELL)
        for serial, lot, first, last, wrong in stays.get(
            port, [(f"S{number}", f"24{number % 5}", 0.0, HOURS, WELL)]
        ):
            there = (at >= first) & (at < last)
            ratio[there] = wrong
            info = np.where(there, 1.0, np.nan)
            made[OPTICS_INFO, (*port, *module(serial, lot))] = [float(one) for one in info]
        bits = np.cumsum(np.round(ratio * LINE * PERIOD))
        made[FEC_CORRECTED_BITS, tuple(port)] = [float(one) for one in bits]
        made[UP, tuple(port)] = [1.0] * POLLS
    detector = PartsBadBatch(PartsBadBatchSettings())
    view = view_of(detector, made, PERIOD, fabric())  # type: ignore[arg-type]  # metrics and labels
    return view, detector


def told(stays: Mapping[Port, Sequence[Stay]]) -> History:
    view, _ = seen(stays)
    ill, _ = blamed(view, {})
    return history(view, ill.known, ill.own)


def test_a_module_whose_going_cured_its_port_was_the_ill_one() -> None:
    found = told({PORTS[3]: [("bad", "2411", 0, 6, ILL), ("good", "2418", 6, HOURS, WELL)]})
    (one,) = found.gone
    assert (one.port, one.cured, one.made.lot) == (PORTS[3], True, "Lumen/L400/2411")
    assert "bad in it, and is well since" in one.evidence.says


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(ILL, ILL, id="the port stayed ill: it was not the module"),
        pytest.param(WELL, WELL, id="nothing was wrong with it"),
        pytest.param(WELL, ILL, id="the new one is ill"),
    ],
)
def test_a_module_is_not_blamed_for_what_its_going_did_not_change(
    before: float, after: float
) -> None:
    found = told({PORTS[3]: [("old", "2411", 0, 6, before), ("new", "2418", 6, HOURS, after)]})
    assert [one.cured for one in found.gone] == [False]


def test_a_module_that_moved_is_known_by_its_serial() -> None:
    found = told({
        PORTS[3]: [("moved", "2411", 0, 6, ILL), ("good", "2418", 6, HOURS, WELL)],
        PORTS[9]: [("other", "2418", 0, 6, WELL), ("moved", "2411", 6, HOURS, ILL)],
    })  # fmt: skip
    assert found.ports_of == {"moved": (PORTS[3], PORTS[9])}
    assert found.came(PORTS[9]) == f"moved was in {PORTS[3]} before"
    assert found.came(PORTS[3]) == ""


def test_a_module_that_feeds_four_ports_at_once_did_not_move_between_them() -> None:
    found = told({PORTS[n]: [("breakout", "2418", 0, HOURS, WELL)] for n in range(4)})
    assert not any(found.came(port) for port in PORTS[:4])
    assert not found.ports_of


def test_modules_taken_out_count_against_their_lot() -> None:
    """Nine of a lot failed and were swapped, two fail now: the lot is accused by all of them."""
    cured = {
        port: [(f"bad-{n}", "2411", 0, 6, ILL), (f"good-{n}", "2418", 6, HOURS, WELL)]
        for n, port in enumerate(PORTS[:9])
    }
    failing = {
        port: [(f"bad-{n}", "2411", 0, HOURS, ILL)] for n, port in enumerate(PORTS[20:22], 20)
    }
    view, detector = seen(cured | failing)
    (one,) = detector.judge(view)
    assert one.about == Place("lot", "Lumen/L400/2411")
    assert one.at <= START + HOURS * 3600
    fresh, detector = seen(failing)
    assert list(detector.judge(fresh)) == []
