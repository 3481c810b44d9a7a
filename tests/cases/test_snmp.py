"""Cases of SNMP agents that once broke tools of this kind: wraps, resets, widths, neighbours."""

from pathlib import Path

import numpy as np
import pytest

from fabrichealth.catalogue.ports import RX_BYTES, RX_ERRORS
from fabrichealth.counters import increases
from fabrichealth.model import Neighbor, Reason
from fabrichealth.topology import Device, PortFacts, Topology
from tests.collectors.snmp_walks import AT, Cell, Columns, Seen, ports


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


Told = tuple[float, int, dict[str, int]]
"""Seconds, sysUpTime in ticks, and columns of the one port."""


def rates(seen: Seen, told: list[Told]) -> list[float]:
    """Return bytes per second between polls as the store and the analyzer have them."""
    values = []
    for seconds, ticks, columns in told:
        walked = ports("Eth1/1") | {name: {1: value} for name, value in columns.items()}
        poll = seen.poll({**walked, "sysUpTime": {0: ticks}}, AT + seconds)
        values.append(seen.readings(poll, RX_BYTES).get(("Eth1/1",), float("nan")))
    found = increases(np.array([values]), np.array([[AT + seconds for seconds, _, _ in told]]))
    return [float(rate) for rate in found.rate()[0] if np.isfinite(rate)]


def test_a_32_bit_counter_that_wraps_goes_on(seen: Seen) -> None:
    told: list[Told] = [
        (0, 5_000_000, {"ifInOctets": 2**32 - 400}),
        (60, 5_006_000, {"ifInOctets": 800}),
    ]
    assert rates(seen, told) == pytest.approx([1200 / 60])


def test_a_64_bit_counter_that_restarts_recovers_at_once(seen: Seen) -> None:
    told: list[Told] = [
        (0, 5_000_000, {"ifHCInOctets": 8 * 10**12}),
        (60, 2_000, {"ifHCInOctets": 90_000}),
        (120, 8_000, {"ifHCInOctets": 690_000}),
    ]
    assert rates(seen, told) == pytest.approx([10_000])  # over the reset nobody knows the time


def test_a_32_bit_counter_that_falls_over_a_restart_did_not_wrap(seen: Seen) -> None:
    told: list[Told] = [
        (0, 5_000_000, {"ifInOctets": 2**32 - 400}),
        (60, 2_000, {"ifInOctets": 800}),
    ]
    (only,) = rates(seen, told)
    assert only <= 800 / 20
    assert seen.source.memory()["wraps"][0][2] == 0


def test_a_poll_of_the_32_bit_table_alone_is_not_the_64_bit_counter(seen: Seen) -> None:
    told: list[Told] = [
        (0, 5_000_000, {"ifHCInOctets": 2**40}),
        (60, 5_006_000, {"ifInOctets": 3_000_000}),
        (120, 5_012_000, {"ifHCInOctets": 2**40 + 48_000_000}),
    ]
    assert rates(seen, told) == pytest.approx([400_000])


def test_a_poll_without_names_keeps_those_that_are_known(seen: Seen) -> None:
    named: Columns = {**ports("Eth1/1"), "ifDescr": {1: "Ethernet 1/1"}, "ifInErrors": {1: 5}}
    nameless = {column: rows for column, rows in named.items() if column != "ifName"}
    for walked in (named, nameless, nameless, named):
        poll = seen.poll(walked)
        assert seen.readings(poll, RX_ERRORS) == {("Eth1/1",): 5.0}
    moved: Columns = {**nameless, "ifDescr": {1: "Ethernet 1/2"}}
    assert seen.readings(seen.poll(moved), RX_ERRORS) == {("Ethernet 1/2",): 5.0}


def test_the_lone_narrow_value_is_refused_by_name(seen: Seen) -> None:
    seen.poll({**ports("Eth1/1"), "ifHCInOctets": {1: 2**40}})
    poll = seen.poll({**ports("Eth1/1"), "ifInOctets": {1: 5}}, AT + 60)
    (refused,) = poll.refused
    assert (refused.reason, refused.what) == (Reason.FAILED, str(RX_BYTES))
    assert refused.labels["port"] == "Eth1/1"


def test_an_agent_that_stays_narrow_is_believed_in_the_end(seen: Seen) -> None:
    seen.poll({**ports("Eth1/1"), "ifHCInOctets": {1: 2**40}})
    shown = [
        seen.readings(
            seen.poll({**ports("Eth1/1"), "ifInOctets": {1: 5 + n}}, AT + 60 * n), RX_BYTES
        )
        for n in range(1, 5)
    ]
    assert shown == [{}, {}, {("Eth1/1",): 8.0}, {("Eth1/1",): 9.0}]


def test_a_discontinuity_of_one_port_is_a_reset_of_that_port_alone(seen: Seen) -> None:
    full: dict[int | str, Cell] = {1: 2**32 - 10, 2: 2**32 - 10}
    walked: Columns = {**ports("Eth1/1", "Eth1/2"), "ifCounterDiscontinuityTime": {1: 0, 2: 0}}
    seen.poll({**walked, "ifInErrors": full})
    walked["ifCounterDiscontinuityTime"] = {1: 777, 2: 0}
    poll = seen.poll({**walked, "ifInErrors": {1: 5, 2: 5}}, AT + 60)
    assert seen.readings(poll, RX_ERRORS) == {("Eth1/1",): 5.0, ("Eth1/2",): 2**32 + 5}


def test_a_restart_of_the_collector_forgets_no_wrap(seen: Seen, tmp_path: Path) -> None:
    walked: Columns = {**ports("Eth1/1"), "sysUpTime": {0: 5_000_000}}
    seen.poll({**walked, "ifInErrors": {1: 2**32 - 10}})
    (tmp_path / "other").mkdir()
    other = Seen(tmp_path / "other")
    other.source.remember(seen.source.memory())
    later: Columns = {**walked, "sysUpTime": {0: 5_006_000}, "ifInErrors": {1: 5}}
    poll = other.poll(later, AT + 60)
    assert other.readings(poll, RX_ERRORS) == {("Eth1/1",): 2**32 + 5}


NAME, MAC = 5, 3
"""Subtypes of a port id."""


def heard(*rows: tuple[int, int, str, str, str]) -> Columns:
    """Return remote rows (local number, subtype, port id, description, system)."""
    found: Columns = {
        "lldpLocPortIdSubtype": {11: 5, 12: 5, 13: 5, 90: 5},
        "lldpLocPortId": {11: "Ethernet116", 12: "Ethernet120", 13: "Ethernet124", 90: "mgmt0"},
        "lldpRemChassisIdSubtype": {}, "lldpRemChassisId": {}, "lldpRemPortIdSubtype": {},
        "lldpRemPortId": {}, "lldpRemPortDesc": {}, "lldpRemSysName": {},
    }  # fmt: skip
    for number, (local, subtype, port, words, system) in enumerate(rows, start=1):
        index = f"0.{local}.{number}"
        found["lldpRemChassisIdSubtype"][index] = 4
        found["lldpRemChassisId"][index] = bytes.fromhex("020000000100")
        found["lldpRemPortIdSubtype"][index] = subtype
        found["lldpRemPortId"][index] = bytes.fromhex(port) if subtype == MAC else port
        found["lldpRemPortDesc"][index] = words
        found["lldpRemSysName"][index] = system
    return found


SPINES = Topology(
    [
        Device(
            name="spine-1",
            role="switch",
            ids=["s1.example"],
            ports={"Ethernet32": PortFacts(alias="etp9"), "Ethernet36": PortFacts(alias="etp10")},
        ),
        Device(name="spine-2", role="switch", ports={"Ethernet16": PortFacts(alias="etp5")}),
    ]
)


def test_neighbours_that_are_still_starting_make_no_wrong_link(tmp_path: Path) -> None:
    seen = Seen(tmp_path, SPINES)
    walked = ports("Ethernet116", "Ethernet120", "Ethernet124")
    starting = heard(
        (13, MAC, "020000000100", "Ethernet32", "spine-1"),
        (12, NAME, "etp9", "leaf:Ethernet120", "s1.example"),
        (11, MAC, "020000000200", "Ethernet16", "spine-2"),
        (11, NAME, "etp5", "leaf:Ethernet116", "spine-2"),
        (90, NAME, "Gi0/7", "", "office-switch"),
    )
    assert set(seen.poll({**walked, **starting}).neighbors) == {
        Neighbor("leaf-01", "Ethernet124", "spine-1", "", "lldp"),
        Neighbor("leaf-01", "Ethernet120", "spine-1", "Ethernet32", "lldp"),
        Neighbor("leaf-01", "Ethernet116", "spine-2", "Ethernet16", "lldp"),
    }
    settled = heard(
        (11, NAME, "etp5", "leaf:Ethernet116", "spine-2"),
        (13, NAME, "etp10", "leaf:Ethernet124", "spine-1"),
    )
    assert set(seen.poll({**walked, **settled}, AT + 30).neighbors) == {
        Neighbor("leaf-01", "Ethernet116", "spine-2", "Ethernet16", "lldp"),
        Neighbor("leaf-01", "Ethernet124", "spine-1", "Ethernet36", "lldp"),
    }
