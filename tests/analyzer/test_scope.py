"""Devices in the scope of an event, looked up by the scope."""

from itertools import combinations

import pytest

from analyzer.incidents.scope import devices_in, in_scope
from fabrichealth.model import Place
from fabrichealth.topology import Device, Domain, Link, Rack, Topology

SITE = Topology(
    [
        Device(name="leaf", role="switch", rack="r1"),
        Device(name="cdu", role="cdu", rack="r2"),
        Device(name="h0", role="host", rack="r1"),
        Device(name="h1", role="host", rack="r2", domain="pod-b"),
        Device(name="h2", role="host"),
        *(
            Device(name=f"{host}-{n}", role="accelerator", host=host)
            for host in ("h0", "h1", "h2")
            for n in range(2)
        ),
        Device(name="tray", role="accelerator", host="h0", rack="r2", domain="pod-c"),
    ],
    [Link(a="h0/eth0", b="leaf/0", technology="roce")],
    [Domain(name=name) for name in ("pod-a", "pod-b", "pod-c")],
    [Rack(name=name, domain="pod-a") for name in ("r1", "r2")],
)
KEYS = [
    *(("device", name) for name in ("leaf", "h0", "h2", "h0-1", "tray", "nobody")),
    *(("rack", name) for name in ("r1", "r2", "r3")),
    *(("domain", name) for name in ("pod-a", "pod-b", "pod-c", "pod-d")),
    ("loop", "cdu"), ("branch", "r1"), ("feed", "f1"),
    ("port", "h0/eth0"), ("link", "h0/eth0--leaf/0"),
]  # fmt: skip
SCOPES = [
    dict(keys) for many in range(3) for keys in combinations(KEYS, many) if len(dict(keys)) == many
]


def test_a_scope_has_the_devices_of_which_each_says_that_it_lies_in_it() -> None:
    for scope in SCOPES:
        alone = {one for one in SITE.devices if in_scope(Place("device", one), scope, SITE)}
        assert devices_in(scope, SITE) & SITE.devices.keys() == alone, scope


@pytest.mark.parametrize(
    ("scope", "devices"),
    [
        ({"device": "h2"}, {"h2", "h2-0", "h2-1"}),
        ({"rack": "r1"}, {"leaf", "h0", "h0-0", "h0-1", "tray"}),
        ({"rack": "r1", "domain": "pod-c"}, {"tray"}),
        ({}, set()),
    ],
)
def test_what_a_host_holds_lies_where_it_does(scope: dict[str, str], devices: set[str]) -> None:
    assert devices_in(scope, SITE) == devices
