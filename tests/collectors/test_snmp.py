"""The snmp source on recorded walks: names, renumbering, states, sensors, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collectors.maps import snmp_rules, snmp_sensors
from collectors.snmp.uptime import Uptime
from collectors.snmp.wraps import Wraps
from collectors.source import Target
from collectors.sources.snmp import Snmp, SnmpSettings
from fabrichealth.catalogue import congestion, devices, optics, pause
from fabrichealth.catalogue import ports as of_ports
from fabrichealth.errors import SiteError
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from fabrichealth.topology import Device, PortFacts, Topology
from tests.collectors.snmp_walks import AT, OIDS, Cell, Columns, Seen, ports


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


def reasons(poll: Poll) -> list[tuple[Reason, str]]:
    return [(one.reason, one.what) for one in poll.refused]


def test_a_port_keeps_its_counters_when_rows_are_renumbered(seen: Seen) -> None:
    before: Columns = {**ports("Eth1/1", "Eth1/2"), "ifHCInOctets": {1: 100, 2: 2000}}
    after: Columns = ports("Eth1/0", "Eth1/1", "Eth1/2", first=40)
    after["ifHCInOctets"] = {40: 7, 41: 110, 42: 2100}
    first, second = seen.poll(before), seen.poll(after, AT + 30)
    assert seen.readings(first, of_ports.RX_BYTES) == {("Eth1/1",): 100, ("Eth1/2",): 2000}
    assert seen.readings(second, of_ports.RX_BYTES) == {
        ("Eth1/0",): 7, ("Eth1/1",): 110, ("Eth1/2",): 2100,
    }  # fmt: skip


def test_ports_of_an_agent_without_names_are_known_by_description(seen: Seen) -> None:
    walked = ports("eth1", "eth2")
    walked["ifDescr"] = walked.pop("ifName")
    assert set(seen.readings(seen.poll(walked), of_ports.UP)) == {("eth1",), ("eth2",)}
    walked["ifDescr"] = {1: "eth2", 2: "eth1"}
    walked["ifOperStatus"] = {1: 2, 2: 1}
    assert seen.readings(seen.poll(walked), of_ports.UP) == {("eth2",): 0.0, ("eth1",): 1.0}


def test_a_poll_of_known_ports_names_no_new_series(seen: Seen) -> None:
    walked: Columns = {**ports("Eth1/1"), "ifHCInOctets": {1: 5}, "ifInErrors": {1: 0}}
    seen.poll(walked)
    known = len(seen.table)
    seen.poll(walked, AT + 30)
    assert len(seen.table) == known


def test_what_is_made_of_ports_is_no_port(seen: Seen) -> None:
    walked = ports("Eth1/1", "Vlan7", "Po1", "lo")
    walked["ifType"] = {1: 6, 2: 136, 3: 161, 4: 24}
    assert seen.readings(seen.poll(walked), of_ports.UP) == {("Eth1/1",): 1.0}


def test_two_rows_of_one_name_are_neither(seen: Seen) -> None:
    poll = seen.poll(ports("Eth1/1", "Eth1/2", "Eth1/1"))
    assert seen.readings(poll, of_ports.UP) == {("Eth1/2",): 1.0}
    assert reasons(poll) == [(Reason.DUPLICATE, "ifName")]


def test_a_row_without_a_name_is_called_by_its_description(seen: Seen) -> None:
    walked: Columns = {**ports("", "a;b/c--d", ""), "ifDescr": {1: "swp1"}}
    poll = seen.poll(walked)
    assert seen.readings(poll, of_ports.UP) == {("swp1",): 1.0, ("a;b/c_d",): 1.0}
    assert reasons(poll) == [(Reason.MALFORMED, "ifName")]


@pytest.mark.parametrize(
    ("status", "up"), [(1, 1.0), (2, 0.0), (3, 0.0), (4, None), (5, 0.0), (6, 0.0), (7, 0.0)]
)
def test_only_up_is_up_and_unknown_is_absent(seen: Seen, status: int, up: float | None) -> None:
    poll = seen.poll({**ports("Eth1/1"), "ifOperStatus": {1: status}})
    assert seen.readings(poll, of_ports.UP).get(("Eth1/1",)) == up
    assert poll.refused == []
    shown = seen.readings(poll, of_ports.SPEED)
    assert shown == ({("Eth1/1",): 100e9} if up == 1.0 else {})


def test_a_state_that_no_mib_has_is_refused(seen: Seen) -> None:
    poll = seen.poll({**ports("Eth1/1"), "ifOperStatus": {1: 99}})
    assert reasons(poll) == [(Reason.MALFORMED, str(of_ports.UP))]


def test_a_text_in_a_column_of_numbers_costs_its_port_alone(seen: Seen) -> None:
    poll = seen.poll({**ports("Eth1/1", "Eth1/2"), "ifInErrors": {1: "N/A", 2: 3}})
    assert seen.readings(poll, of_ports.RX_ERRORS) == {("Eth1/2",): 3.0}
    assert reasons(poll) == [(Reason.MALFORMED, "ifInErrors")]


def test_packets_are_all_kinds_of_packets_or_none(seen: Seen) -> None:
    walked: Columns = {
        **ports("Eth1/1"),
        "ifHCInUcastPkts": {1: 10}, "ifHCInMulticastPkts": {1: 5}, "ifHCInBroadcastPkts": {1: 1},
        "ifHCOutUcastPkts": {1: 10},
    }  # fmt: skip
    poll = seen.poll(walked)
    assert seen.readings(poll, of_ports.RX_PACKETS) == {("Eth1/1",): 16.0}
    assert seen.readings(poll, of_ports.TX_PACKETS) == {}


def test_indications_are_received_and_requests_are_sent(seen: Seen) -> None:
    walked: Columns = {
        **ports("Eth1/1"),
        "ieee8021PfcRequests": {1: 7},
        "ieee8021PfcIndications": {1: 9},
        "dot3HCInPauseFrames": {1: 4},
    }
    poll = seen.poll(walked)
    assert seen.readings(poll, pause.PFC_ALL_TX_FRAMES) == {("Eth1/1",): 7.0}
    assert seen.readings(poll, pause.PFC_ALL_RX_FRAMES) == {("Eth1/1",): 9.0}
    assert seen.readings(poll, pause.PAUSE_RX_FRAMES) == {("Eth1/1",): 4.0}
    assert seen.readings(poll, congestion.PFC_RX_FRAMES) == {}  # of which priority, nobody says


def test_ethernets_64_bit_errors_win_over_its_32_bit_ones(seen: Seen) -> None:
    walked: Columns = {
        **ports("Eth1/1"), "dot3StatsFCSErrors": {1: 5}, "dot3HCStatsFCSErrors": {1: 2**33},
    }  # fmt: skip
    assert seen.readings(seen.poll(walked), of_ports.RX_CRC_ERRORS) == {("Eth1/1",): 2.0**33}


WATTS, MILLI, UNITS = 6, 8, 9


def sensor(*rows: tuple[str, int, int, int, int, int]) -> Columns:
    """Return sensors: name, type, scale, precision, value and status."""
    columns = (
        "entPhysicalDescr", "entPhySensorType", "entPhySensorScale", "entPhySensorPrecision",
        "entPhySensorValue", "entPhySensorOperStatus",
    )  # fmt: skip
    return {
        column: {500 + n: row[place] for n, row in enumerate(rows)}
        for place, column in enumerate(columns)
    }


def test_light_in_milliwatts_is_dbm_and_dark_is_lost_signal(seen: Seen) -> None:
    walked = {
        **ports("Eth1/1", "Eth1/2"),
        **sensor(
            ("DOM RX Power Sensor for Eth1/1/1", WATTS, MILLI, 4, 10_000, 1),
            ("DOM RX Power Sensor for Eth1/1/2", WATTS, MILLI, 4, 1, 1),
            ("DOM TX Power Sensor for Eth1/2", WATTS, MILLI, 4, 5_000, 1),
            ("Eth1/2 Lane 3 Transceiver Receive Power Sensor", 14, MILLI, 0, -2500, 1),
            ("DOM TX Bias Sensor for Eth1/2", 5, MILLI, 1, 530, 1),
        ),
    }
    poll = seen.poll(walked)
    assert seen.readings(poll, optics.RX_POWER) == pytest.approx(
        {("Eth1/1", "1"): 0.0, ("Eth1/1", "2"): -40.0, ("Eth1/2", "3"): -2.5}
    )
    assert seen.readings(poll, optics.LOS) == {
        ("Eth1/1", "1", "media"): 0.0, ("Eth1/1", "2", "media"): 1.0, ("Eth1/2", "3", "media"): 0.0,
    }  # fmt: skip
    assert seen.readings(poll, optics.TX_POWER) == pytest.approx({("Eth1/2", "1"): -3.01}, abs=0.01)
    assert seen.readings(poll, optics.TX_BIAS) == {("Eth1/2", "1"): 0.053}


def test_a_module_under_another_name_is_of_the_port_that_is_written(tmp_path: Path) -> None:
    written = Device(
        name="leaf-01", role="switch", ports={"Eth1/53": PortFacts(alias="Ethernet52")}
    )
    seen = Seen(tmp_path, Topology([written]))
    lanes = sensor(("DOM RX Power Sensor for Ethernet52/3", WATTS, MILLI, 4, 10_000, 1))
    poll = seen.poll({**ports("Eth1/53"), **lanes})
    assert seen.readings(poll, optics.RX_POWER) == {("Eth1/53", "3"): 0.0}


def test_a_sensor_says_by_status_and_by_overflow_that_it_has_no_value(seen: Seen) -> None:
    walked = {
        **ports("Eth1/1"),
        **sensor(
            ("DOM Temperature Sensor for Eth1/1", 8, UNITS, 1, 0, 2),
            ("DOM Voltage Sensor for Eth1/1", 4, UNITS, 2, 331, 3),
            ("DOM RX Power Sensor for Eth1/1", WATTS, MILLI, 4, -1_000_000_000, 1),
            ("Inlet", 8, UNITS, -1, 25, 1),
        ),
    }
    poll = seen.poll(walked)
    assert reasons(poll) == [
        (Reason.UNSUPPORTED, str(optics.TEMPERATURE)),
        (Reason.SENSOR_FAULT, str(optics.SUPPLY)),
        (Reason.SENSOR_FAULT, str(optics.RX_POWER)),
    ]
    assert seen.readings(poll, devices.DEVICE_TEMPERATURE) == {("Inlet",): 25.0}
    assert seen.readings(poll, optics.LOS) == {}


def test_sensors_of_one_name_are_told_apart_by_their_rows(seen: Seen) -> None:
    fans = sensor(("Fan", 10, UNITS, 0, 4000, 1), ("Fan", 10, UNITS, 0, 5000, 1))
    poll = seen.poll({**ports("Eth1/1"), **fans})
    assert seen.readings(poll, devices.FAN_SPEED) == {("Fan (500)",): 4000, ("Fan (501)",): 5000}


@pytest.mark.parametrize(
    ("scale", "precision", "power"), [(9, 0, 0), (8, 4, -7), (9, -3, 0), (10, 1, 2), (1, 0, -24)]
)
def test_scale_and_precision_make_a_power_of_ten(scale: int, precision: int, power: int) -> None:
    assert snmp_sensors.exponent(scale, precision) == power


def test_a_scale_that_the_mib_does_not_have_is_refused(seen: Seen) -> None:
    poll = seen.poll({**ports("Eth1/1"), **sensor(("Inlet", 8, 99, 0, 25, 1))})
    assert seen.readings(poll, devices.DEVICE_TEMPERATURE) == {}
    assert reasons(poll) == [(Reason.MALFORMED, "entPhySensorValue")]


def test_a_local_port_is_no_ifindex(seen: Seen) -> None:
    walked: Columns = {
        **ports("Eth1/1", "Eth1/2"),
        "lldpLocPortId": {2: "Eth1/1", 1: b"\x02\0\0\0\0\x07"},
        "lldpLocPortIdSubtype": {2: 5, 1: 3},
        "lldpLocPortDesc": {1: "Eth1/2"},
        "lldpRemSysName": {"0.2.1": "spine-1", "0.1.9": "spine-2", "0.77.1": "ghost"},
        "lldpRemPortId": {"0.2.1": "e7", "0.1.9": "e8"},
    }  # fmt: skip
    poll = seen.poll(walked)
    assert set(poll.neighbors) == {
        Neighbor("leaf-01", "Eth1/1", "spine-1", "e7", "lldp"),
        Neighbor("leaf-01", "Eth1/2", "spine-2", "e8", "lldp"),
    }
    assert reasons(poll) == [(Reason.MALFORMED, "lldpRemLocalPortNum")]


def test_a_boot_time_stands_still_over_the_round_of_its_counter() -> None:
    uptime = Uptime()
    uptime.take(2**32 - 1000, AT)
    began = uptime.boot
    uptime.take(2000, AT + 30.2)
    assert (uptime.boot, uptime.restarted) == (began, False)
    uptime.take(100, AT + 60)
    assert uptime.restarted
    assert uptime.boot == AT + 59


def test_a_wall_clock_that_jumps_boots_no_device() -> None:
    uptime = Uptime()
    uptime.take(5_000_000, AT)
    began = uptime.boot
    for at, ticks in ((AT + 3600, 5_006_000), (AT + 120, 5_012_000), (AT + 180, 5_018_000)):
        uptime.take(ticks, at)
        assert (uptime.boot, uptime.restarted) == (began, False)
        assert uptime.clock(at) == pytest.approx(ticks / 100)
    uptime.take(3_000, AT + 240)
    assert (uptime.boot, uptime.restarted) == (AT + 210, True)


def test_a_wrap_is_judged_by_the_time_that_the_device_ran(seen: Seen) -> None:
    walked: Columns = {**ports("Eth1/1"), "sysUpTime": {0: 5_000_000}}
    seen.poll({**walked, "ifInErrors": {1: 2**32 - 10}})
    later: Columns = {**walked, "sysUpTime": {0: 5_006_000}, "ifInErrors": {1: 5}}
    poll = seen.poll(later, AT + 3600)
    assert seen.readings(poll, of_ports.RX_ERRORS) == {("Eth1/1",): 2**32 + 5}


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**16)), min_size=1, max_size=30),
    st.integers(0, 2**32 - 1),
)
def test_a_counter_that_only_rises_is_told_whole(rises: list[tuple[int, int]], start: int) -> None:
    wraps, count = Wraps(), [start] * 4
    cells = wraps.cells("ifInErrors", ("a", "b", "c", "d"))
    most, still = np.full(4, 1e4), np.zeros(4, np.bool_)
    for step, (port, rise) in enumerate(rises):
        shown = np.array([one % 2**32 for one in count], np.float64)
        told = wraps.monotone(cells, shown, 30.0 * step, most, still)
        assert told.tolist() == [float(one) for one in count]
        count[port] += rise


def test_a_map_names_only_what_is_in_its_tables() -> None:
    for known in (snmp_rules.interfaces(), snmp_rules.sensors(), snmp_rules.neighbors()):
        assert known.about
        assert len(set(known.oids.values())) == len(known.oids)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"version": "1"}, "version"),
        ({"version": "3"}, "user"),
        ({"user": "u", "auth": "rot13"}, "auth"),
        ({"user": "u", "priv": "aes"}, "needs auth"),
        ({"version": "2c", "auth": "sha"}, "community"),
    ],
)
def test_a_login_that_cannot_be_is_an_error_of_the_site(options: dict[str, str], says: str) -> None:
    target = Target("leaf-01", "snmp", "snmp://192.0.2.1", options=options)
    with pytest.raises(SiteError, match=says):
        Snmp(SnmpSettings(), target, SeriesTable())


VALUES = st.integers(-1, 2**64 - 1) | st.sampled_from(["", "Eth1/1", "N/A"]) | st.binary(max_size=7)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(sorted(OIDS)),
            st.dictionaries(st.integers(0, 4) | st.sampled_from(["0.1.1", "0.2.7"]), VALUES),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_any_columns_give_readings_or_refusals(
    tmp_path: Path, polls: list[dict[str, dict[int | str, Cell]]]
) -> None:
    seen = Seen(tmp_path)
    for number, walked in enumerate(polls):
        whole = {**ports("Eth1/1", "Eth1/2"), **walked}
        poll = seen.poll(whole, AT + 30 * number)
        seen.source.remember(seen.source.memory())
        assert all(isinstance(one.reason, Reason) for one in poll.refused)
