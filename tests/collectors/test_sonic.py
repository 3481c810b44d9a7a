"""The sonic source on captures: what the hashes of a switch say, and what they do not."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collectors.intake import Bounds, checked
from collectors.protocols import sonic_databases, sonic_transceiver, sonic_values
from collectors.source import Target
from collectors.sources.sonic import Sonic, SonicSettings
from fabrichealth.catalogue import congestion, optics, pause, ports
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Neighbor, Poll, Reason, SeriesTable
from fabrichealth.topology import Device, Topology
from tests.collectors.sonic_switch import NUMBERS, P, changed, module, port_counters, switch
from tests.fixtures import readings

AT = 1_767_225_600.0
E0 = ("leaf-01", "Ethernet0")
PORT_OID, QUEUE_OID = "COUNTERS:oid:0x10000", "COUNTERS:oid:0x15000003"


class Seen:
    """A source and what it says of captures, one after the other."""

    def __init__(self, folder: Path, topology: Topology | None = None, **given: Any) -> None:
        self.table = SeriesTable()
        self.folder = folder
        self.count = 0
        target = Target("leaf-01", "sonic", "", "", {}, topology or Topology())
        self.source = Sonic(SonicSettings.model_validate(given), target, self.table)

    def poll(self, content: Any, at: float = AT) -> Poll:
        self.count += 1
        file = self.folder / f"{self.count}.json"
        file.write_text(json.dumps(content))
        raw = self.source.captured([file], at)
        return checked(raw, Bounds(self.table), self.table, at, 300.0)

    def of(self, metric: Metric, content: Any, at: float = AT) -> dict[Labels, float]:
        return readings(self.poll(content, at), self.table, metric)


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


@pytest.mark.parametrize(
    ("metric", "more", "value"),
    [
        (ports.UP, (), 1.0),
        (ports.ADMIN_UP, (), 1.0),
        (ports.SPEED, (), 4e11),
        (ports.LANES, (), 4.0),
        (ports.RX_BYTES, (), 64_000.0),
        (ports.RX_PACKETS, (), 1007.0),
        (ports.TX_PACKETS, (), 1008.0),
        (ports.RX_CRC_ERRORS, (), 2.0),
        (ports.TX_DISCARDS, (), 5.0),
        (ports.FEC_CORRECTED_CODEWORDS, (), 21.0),
        (ports.FEC_UNCORRECTABLE_CODEWORDS, (), 1.0),
        (ports.FEC_CORRECTED_SYMBOLS, (), 22.0),
        (ports.FEC_CORRECTED_BITS, (), 23.0),
        (ports.FEC_CODEWORDS, ("15",), 85.0),
        (ports.PRE_FEC_BER, (), 1.5e-9),
        (congestion.PFC_RX_FRAMES, ("3",), 11.0),
        (congestion.PFC_RX_PAUSE, ("3",), 2.5),
        (congestion.PFC_RX_PAUSE, ("4",), 1.5),
        (congestion.QUEUE_TX_PACKETS, ("3",), 70.0),
        (congestion.QUEUE_OCCUPANCY, ("3",), 4200.0),
        (congestion.QUEUE_WATERMARK, ("3",), 8400.0),
        (congestion.ECN_MARKED_PACKETS, ("3",), 9.0),
        (congestion.PFC_WATCHDOG_STORMS, ("3",), 2.0),
        (congestion.PFC_WATCHDOG_RESTORES, ("3",), 1.0),
        (congestion.PFC_RX_DROPPED_PACKETS, ("3",), 13.0),
        (congestion.PFC_XOFF_THRESHOLD, ("4",), 98_304.0),
        (congestion.BUFFER_ALPHA, ("3",), 0.5),
        (congestion.ECN_THRESHOLD, ("3", "min"), 250_000.0),
        (congestion.ECN_THRESHOLD, ("3", "max"), 1_048_576.0),
        (optics.TEMPERATURE, (), 41.5),
        (optics.SUPPLY, (), 3.29),
        (optics.RX_POWER, ("4",), -1.5),
        (optics.TX_BIAS, ("4",), 0.0075),
        (optics.THRESHOLD, ("tx_bias", "high", "alarm"), 0.015),
        (optics.THRESHOLD, ("rx_power", "low", "warning"), -8.9),
        (optics.ALARM, ("2", "rx_power", "low", "warning"), 1.0),
        (optics.ALARM, ("", "temperature", "high", "alarm"), 0.0),
        (optics.ALARM, ("1", "snr", "low", "warning"), 1.0),
        (optics.TX_FAULT, ("3",), 1.0),
        (optics.LOS, ("1", "media"), 0.0),
        (optics.LOS, ("8", "host"), 0.0),
        (optics.SNR, ("1", "media"), 21.5),
        (optics.PRE_FEC_BER, ("1", "media"), 2e-9),
        (optics.LASER_TEMPERATURE, ("1",), 48.0),
    ],
)
def test_a_switch_is_read_in_the_catalogues_units(
    seen: Seen, metric: Metric, more: Labels, value: float
) -> None:
    assert seen.of(metric, switch())[(*E0, *more)] == pytest.approx(value)


def test_nothing_of_a_healthy_switch_is_refused(seen: Seen) -> None:
    poll = seen.poll(switch())
    assert poll.refused == []
    assert {seen.table.metric(int(one)) for batch in poll.batches for one in batch.series} <= set(
        Sonic.metrics
    )
    pool = readings(poll, seen.table, congestion.BUFFER_POOL)
    assert pool == {("leaf-01",): 33_554_432.0}


def test_databases_go_by_name_by_number_or_alone(seen: Seen) -> None:
    whole = switch()
    by_number = {str(NUMBERS[name]): content for name, content in whole.items()}
    named = seen.poll(whole)
    assert Seen(seen.folder).poll(by_number).readings == named.readings
    more = {**whole, "ASIC_DB": {"x": {"y": "z"}}, "GB_COUNTERS_DB": {}}
    assert Seen(seen.folder).poll(more).readings == named.readings
    alone = Seen(seen.folder).poll(whole["STATE_DB"])
    assert 0 < alone.readings < named.readings


def test_what_is_no_priority_is_not_read(seen: Seen) -> None:
    found = seen.poll(switch())
    queues = {labels[2] for labels in readings(found, seen.table, congestion.QUEUE_TX_BYTES)}
    drops = {labels[2] for labels in readings(found, seen.table, congestion.PFC_RX_DROPPED_PACKETS)}
    assert queues == {"0", "3"}  # 10 is for multicast
    assert drops == {"3"}  # 0 is lossy, and may drop


def test_a_rate_stands_in_only_where_nothing_is_counted(seen: Seen) -> None:
    found = changed(switch(), "COUNTERS_DB", PORT_OID, **{f"{P}IF_IN_OCTETS": None})
    assert seen.of(ports.RX_BYTES_PER_SECOND, found) == {E0: 2e9}


@pytest.mark.parametrize("text", ["-1", "inf", "nan", "-nan", "N/A", ""])
def test_a_rate_that_was_not_computed_is_absent(seen: Seen, text: str) -> None:
    poll = seen.poll(changed(switch(1), "COUNTERS_DB", "RATES:oid:0x10000", FEC_PRE_BER=text))
    assert readings(poll, seen.table, ports.PRE_FEC_BER) == {}
    assert poll.refused == []


def test_pauses_that_the_switch_estimates_yield_to_those_it_counts(seen: Seen) -> None:
    estimated = {f"EST_PORT_STAT_PFC_{n}_RX_PAUSE_DURATION_US": "9000000" for n in (3, 5)}
    found = seen.of(
        congestion.PFC_RX_PAUSE, changed(switch(1), "COUNTERS_DB", PORT_OID, **estimated)
    )
    assert {labels[2]: value for labels, value in found.items()} == {"3": 2.5, "4": 1.5, "5": 9.0}


def test_the_unit_of_a_pause_is_a_setting_where_its_name_does_not_say(tmp_path: Path) -> None:
    found = Seen(tmp_path, pause_unit="ns").of(congestion.PFC_RX_PAUSE, switch(1))
    assert found == {(*E0, "3"): 2.5, (*E0, "4"): pytest.approx(0.0015)}


def test_bins_beyond_the_code_do_not_exist(seen: Seen) -> None:
    slow = changed(switch(1), "APPL_DB", "PORT_TABLE:Ethernet0", speed="100000")
    found = seen.of(ports.FEC_CODEWORDS, slow)  # 25 Gb/s a lane: RS(528,514) corrects 7 symbols
    assert {int(labels[2]) for labels in found} == set(range(8))


def test_missing_lanes_are_absent_and_dark_ones_are_dark(seen: Seen) -> None:
    dark = module("Ethernet0", lanes=4, rx2power="-inf", rx3power="-41.2")
    found = seen.of(optics.RX_POWER, {"STATE_DB": dark})
    assert {labels[2]: value for labels, value in found.items()} == {
        "1": -1.5, "2": -40.0, "3": -40.0, "4": -1.5,
    }  # fmt: skip


def test_a_dark_receiver_without_a_flag_has_lost_its_signal(seen: Seen) -> None:
    dark = module("Ethernet0", lanes=2, rx2power="-inf")
    del dark["TRANSCEIVER_STATUS_FLAG|Ethernet0"]
    assert seen.of(optics.LOS, {"STATE_DB": dark}) == {
        (*E0, "1", "media"): 0.0,
        (*E0, "2", "media"): 1.0,
    }


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"specification_compliance": "passive_copper_media_interface"}, id="copper"),
        pytest.param({"voltage": "0.0", "temperature": "0.0"}, id="no supply"),
    ],
)
def test_placeholders_of_what_has_no_sensors_are_absent(seen: Seen, change: dict[str, str]) -> None:
    table = "INFO" if "specification_compliance" in change else "DOM_SENSOR"
    rows = module("Ethernet0")
    rows[f"TRANSCEIVER_{table}|Ethernet0"] |= change
    poll = seen.poll({"STATE_DB": rows})
    assert poll.refused == []
    assert poll.readings == 1
    assert len(readings(poll, seen.table, optics.OPTICS_INFO)) == 1


def test_monitors_that_stand_still_are_stale(seen: Seen) -> None:
    rows = {"STATE_DB": module("Ethernet0")}
    first, later = seen.poll(rows), seen.poll(rows, AT + 400)
    assert readings(first, seen.table, optics.TEMPERATURE)
    assert readings(later, seen.table, optics.TEMPERATURE) == {}
    assert [one.reason for one in later.refused] == [Reason.STALE]
    rows["STATE_DB"]["TRANSCEIVER_DOM_SENSOR|Ethernet0"]["last_update_time"] = "moved on"
    assert readings(seen.poll(rows, AT + 460), seen.table, optics.TEMPERATURE)


def test_a_port_that_is_down_has_no_speed_and_no_lanes(seen: Seen) -> None:
    down = changed(switch(1), "APPL_DB", "PORT_TABLE:Ethernet0", oper_status="down", flap_count="6")
    poll = seen.poll(down)
    assert readings(poll, seen.table, ports.UP) == {E0: 0.0}
    assert readings(poll, seen.table, ports.SPEED) == {}
    assert readings(poll, seen.table, ports.LANES) == {}
    assert readings(poll, seen.table, ports.LINK_DOWNS) == {E0: 3.0}  # up and down, in turn


@pytest.mark.parametrize(
    ("flaps", "state", "downs"),
    [("0", "down", 0), ("1", "up", 0), ("2", "down", 1), ("7", "up", 3)],
)
def test_changes_of_state_are_downs_half_of_the_time(
    seen: Seen, flaps: str, state: str, downs: int
) -> None:
    row = changed(switch(1), "APPL_DB", "PORT_TABLE:Ethernet0", oper_status=state, flap_count=flaps)
    assert seen.of(ports.LINK_DOWNS, row) == {E0: downs}


def test_one_bad_field_costs_itself(seen: Seen) -> None:
    spoiled = changed(switch(), "COUNTERS_DB", PORT_OID, **{f"{P}IF_IN_ERRORS": "lots"})
    changed(spoiled, "APPL_DB", "PORT_TABLE:Ethernet8", admin_status="sideways")
    poll, whole = seen.poll(spoiled), Seen(seen.folder).poll(switch())
    assert poll.readings == whole.readings - 2
    assert [(one.reason, one.what) for one in poll.refused] == [
        (Reason.MALFORMED, str(ports.ADMIN_UP)),
        (Reason.MALFORMED, str(ports.RX_ERRORS)),
    ]


def test_a_field_that_comes_or_goes_later_is_noticed(seen: Seen) -> None:
    name = f"{P}IF_IN_FEC_CODEWORD_ERRORS_S0"
    without = changed(switch(1), "COUNTERS_DB", PORT_OID, **{name: None})
    found = [(*E0, "0") in seen.of(ports.FEC_CODEWORDS, one)
             for one in (switch(1), without, switch(1))]  # fmt: skip
    assert found == [True, False, True]


def test_a_port_made_anew_keeps_its_series(seen: Seen) -> None:
    before = seen.poll(switch(1))
    new = switch(1)
    counters = new["COUNTERS_DB"]
    counters["COUNTERS_PORT_NAME_MAP"]["Ethernet0"] = "oid:0x1ffff"
    counters["COUNTERS:oid:0x1ffff"] = port_counters(5)
    del counters[PORT_OID]
    after = seen.poll(new)
    assert readings(before, seen.table, ports.RX_BYTES) == {E0: 64_000.0}
    assert readings(after, seen.table, ports.RX_BYTES) == {E0: 320.0}


def test_a_second_poll_makes_no_series_and_is_the_same(seen: Seen) -> None:
    first = seen.poll(switch(8))
    known = len(seen.table)
    second = seen.poll(switch(8), AT + 10)  # a capture is read whole, whatever its pace
    assert len(seen.table) == known
    assert second.batches[0].series.tolist() == first.batches[0].series.tolist()
    assert second.batches[0].values.tolist() == first.batches[0].values.tolist()


def test_neighbours_are_named_as_the_topology_names_them(tmp_path: Path) -> None:
    spine = Device.model_validate(
        {
            "name": "spine-1",
            "role": "switch",
            "ids": ["spine-1.example"],
            "ports": {"Ethernet32": {"alias": "etp9"}},
        }
    )
    rows = switch(1)
    changed(rows, "APPL_DB", "LLDP_ENTRY_TABLE:Ethernet0",
            lldp_rem_sys_name="spine-1.example", lldp_rem_port_id="etp9")  # fmt: skip
    seen = Seen(tmp_path, Topology([spine]))
    assert seen.poll(rows).neighbors == [
        Neighbor("leaf-01", "Ethernet0", "spine-1", "Ethernet32", "lldp")
    ]


@pytest.mark.parametrize(
    ("key", "row", "expected"),
    [
        ("CONFIG_DB", {"ecn": "ecn_none"}, {}),
        ("CONFIG_DB", {"ecn": "ecn_red"}, {}),
        ("CONFIG_DB", {"ecn": "ecn_green"}, {"min": 250_000.0, "max": 1_048_576.0}),
    ],
)
def test_thresholds_of_a_queue_that_marks_nothing_say_nothing(
    seen: Seen, key: str, row: dict[str, str], expected: dict[str, float]
) -> None:
    found = seen.of(
        congestion.ECN_THRESHOLD, changed(switch(1), key, "WRED_PROFILE|AZURE_LOSSLESS", **row)
    )
    assert {labels[3]: value for labels, value in found.items()} == expected


def test_profiles_that_the_switch_computed_win(seen: Seen) -> None:
    rows = switch(1)
    changed(rows, "APPL_DB", "BUFFER_PG_TABLE:Ethernet0:3-4", profile="computed")
    changed(rows, "APPL_DB", "BUFFER_PROFILE_TABLE:computed", xoff="111104", dynamic_th="0")
    poll = seen.poll(rows)
    assert set(readings(poll, seen.table, congestion.PFC_XOFF_THRESHOLD).values()) == {111_104.0}
    assert set(readings(poll, seen.table, congestion.BUFFER_ALPHA).values()) == {1.0}


def test_a_numbered_database_is_where_its_configuration_says(tmp_path: Path) -> None:
    known = {"DATABASES": {"COUNTERS_DB": {"id": 8, "instance": "redis"}}, "INSTANCES": {}}
    (tmp_path / "database_config.json").write_text(json.dumps(known))
    (tmp_path / "dump.json").write_text(json.dumps({"8": switch(1)["COUNTERS_DB"]}))
    table = SeriesTable()
    source = Sonic(SonicSettings(), Target("leaf-01", "sonic"), table)
    poll = source.captured([tmp_path], AT)
    assert readings(poll, table, ports.RX_BYTES) == {E0: 64_000.0}


def test_ports_of_the_backplane_belong_to_their_namespace(tmp_path: Path) -> None:
    for asic, octets in (("asic0", "5"), ("asic1", "6")):
        folder = tmp_path / asic
        folder.mkdir()
        content = {
            "COUNTERS_PORT_NAME_MAP": {"Ethernet-BP0": "oid:0x1"},
            "COUNTERS:oid:0x1": {f"{P}IF_IN_OCTETS": octets},
        }
        (folder / "counters.json").write_text(json.dumps(content))
    table = SeriesTable()
    source = Sonic(SonicSettings(), Target("leaf-01", "sonic"), table)
    poll = source.captured([tmp_path], AT)
    assert readings(poll, table, ports.RX_BYTES) == {
        ("leaf-01", "asic0/Ethernet-BP0"): 5.0,
        ("leaf-01", "asic1/Ethernet-BP0"): 6.0,
    }


def test_global_pauses_are_pauses_of_the_whole_link(seen: Seen) -> None:
    row = changed(switch(1), "COUNTERS_DB", PORT_OID, **{f"{P}PAUSE_RX_PKTS": "4"})
    assert seen.of(pause.PAUSE_RX_FRAMES, row) == {E0: 4.0}


@pytest.mark.parametrize(
    "document",
    ["{}", "[]", "7", '{"a": 1}', '{"DATABASES": {}}', "no JSON", '{"x": {"y": {}}}'],
)
def test_what_is_no_database_is_said_in_one_line(tmp_path: Path, document: str) -> None:
    file = tmp_path / "capture.json"
    file.write_text(document)
    source = Sonic(SonicSettings(), Target("leaf-01", "sonic"), SeriesTable())
    with pytest.raises(SourceUnavailable, match=r"\A.*capture\.json.*\Z"):
        source.captured([file], AT)


@pytest.mark.parametrize(("name", "library"), [("sonic", "redis"), ("gnmi", "grpc")])
def test_a_library_that_is_not_installed_is_named(name: str, library: str) -> None:
    script = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"from fabrichealth.__main__ import main\nsys.exit(main(['read', {name!r}, 'x://y']))"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert told.returncode in {1, 2}
    assert told.stderr.splitlines() == [
        f"fabrichealth: source {name} needs {library}; install it with pip install "
        f"'fabrichealth[{name}]'"
    ]


def test_limits_do_not_age(seen: Seen) -> None:
    rows = {"STATE_DB": module("Ethernet0")}
    rows["STATE_DB"]["TRANSCEIVER_DOM_THRESHOLD|Ethernet0"]["last_update_time"] = "when plugged"
    seen.poll(rows)
    assert readings(seen.poll(rows, AT + 4000), seen.table, optics.THRESHOLD)


TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["N/A", "", "inf", "-inf", "nan", "-1", "2.e9", "1e999", "True", "0x1", "9" * 40]
    ),
    st.integers().map(str),
    st.floats().map(str),
)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_text_anywhere_is_a_value_or_a_refusal(tmp_path: Path, data: st.DataObject) -> None:
    rows = switch(1)
    for _ in range(data.draw(st.integers(1, 6))):
        content = rows[data.draw(st.sampled_from(sorted(rows)))]
        row = content[data.draw(st.sampled_from(sorted(content)))]
        row[data.draw(st.sampled_from([*sorted(row), "new"]))] = data.draw(TEXTS)
    seen = Seen(tmp_path)
    for at in (AT, AT + 60):
        poll = seen.poll(rows, at)
        for batch in poll.batches:
            assert {seen.table.metric(int(one)) for one in batch.series} <= set(Sonic.metrics)


@given(st.lists(st.binary(max_size=30)))
def test_any_bytes_are_numbers_or_none(texts: list[bytes]) -> None:
    for decode in (sonic_values.numbers, sonic_values.flags):
        assert len(decode(texts)) == len(texts)
    for text in texts:
        assert sonic_values.is_absent(text) in {True, False}
    sonic_values.words(texts)


@given(st.recursive(st.none() | st.integers() | st.text(max_size=8),
                    lambda one: st.lists(one, max_size=3) | st.dictionaries(
                        st.sampled_from(["DATABASES", "INSTANCES", "INCLUDES", "id", "instance",
                                         "STATE_DB", "6", "value", "type", "a|b"]), one),
                    max_leaves=10))  # fmt: skip
def test_any_configuration_is_read_or_malformed(document: Any) -> None:
    sonic_databases.includes(document)
    for read in (sonic_databases.databases,
                 lambda one: sonic_databases.captured(one, sonic_databases.STANDARD)):  # fmt: skip
        try:
            read(document)
        except MalformedReply:
            continue


@given(st.text(max_size=40))
def test_any_field_name_is_known_or_not(name: str) -> None:
    for told in (sonic_transceiver.monitor, sonic_transceiver.limit, sonic_transceiver.flag,
                 sonic_transceiver.signal, sonic_transceiver.diagnostic):  # fmt: skip
        told(name)


@pytest.mark.parametrize("text", ["18446744073709551616", "1_000", "nan", "inf", "1e400"])
def test_what_no_counter_can_say_is_refused(seen: Seen, text: str) -> None:
    content = {
        "COUNTERS_DB": {
            "COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1"},
            "COUNTERS:oid:0x1": {"SAI_PORT_STAT_IF_IN_OCTETS": text},
        }
    }
    poll = seen.poll(content)
    assert readings(poll, seen.table, ports.RX_BYTES) == {}
    assert [one.raw for one in poll.refused] == [text]


def test_every_entry_that_a_capture_lists_for_a_port_is_heard(seen: Seen) -> None:
    def entry(system: str) -> dict[str, str]:
        return {"lldp_rem_sys_name": system, "lldp_rem_port_id": "Ethernet4"}

    content = {"APPL_DB": {"LLDP_ENTRY_TABLE:Ethernet0": [entry("spine-1"), entry("spine-2")]}}
    heard = seen.poll(content).neighbors
    assert [one.remote_device for one in heard] == ["spine-1", "spine-2"]


def test_a_neighbour_that_advertised_no_name_is_nobody(seen: Seen) -> None:
    entry = {"lldp_rem_sys_name": "Not advertised", "lldp_rem_port_id": "not advertised"}
    assert seen.poll({"APPL_DB": {"LLDP_ENTRY_TABLE:Ethernet0": entry}}).neighbors == []


def test_two_names_of_one_object_are_one_port_and_a_refusal(seen: Seen) -> None:
    content = {
        "COUNTERS_DB": {
            "COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1", "Ethernet4": "oid:0x1"},
            "COUNTERS:oid:0x1": {"SAI_PORT_STAT_IF_IN_OCTETS": "7"},
        }
    }
    poll = seen.poll(content)
    assert readings(poll, seen.table, ports.RX_BYTES) == {E0: 7.0}
    assert [(one.reason, one.labels["port"]) for one in poll.refused] == [
        (Reason.DUPLICATE, "Ethernet4")
    ]


def test_a_port_that_is_called_impossibly_gets_a_possible_name(seen: Seen) -> None:
    content = {
        "COUNTERS_DB": {
            "COUNTERS_PORT_NAME_MAP": {"a/b--c\n": "oid:0x1"},
            "COUNTERS:oid:0x1": {"SAI_PORT_STAT_IF_IN_OCTETS": "7"},
        }
    }
    assert seen.of(ports.RX_BYTES, content) == {("leaf-01", "a/b_c"): 7.0}
