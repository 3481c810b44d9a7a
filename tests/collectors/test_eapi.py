"""Switches over eAPI: an emulated one over HTTP, and results of commands by hand."""

import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import eapi, json_tree
from collectors.source import Target
from collectors.sources.eapi import Eapi, EapiSettings
from emulator.eapi import EapiSwitch
from emulator.eos import SHOW
from emulator.fabric import Fabric
from emulator.plan import Plan
from fabrichealth.catalogue.congestion import (
    ECN_MARKED_PACKETS,
    PFC_RX_FRAMES,
    PFC_TX_FRAMES,
    QUEUE_DROPPED_PACKETS,
)
from fabrichealth.catalogue.optics import LOS, OPTICS_INFO, RX_POWER, THRESHOLD, TX_BIAS
from fabrichealth.catalogue.ports import (
    ADMIN_UP,
    FEC_CORRECTED_CODEWORDS,
    FEC_CORRECTED_SYMBOLS,
    LANES,
    LINK_DOWNS,
    PORT_INFO,
    PRE_FEC_BER,
    RX_BYTES,
    RX_ERRORS,
    RX_PACKETS,
    SPEED,
    UP,
)
from fabrichealth.errors import MalformedReply, SiteError, SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Neighbor, Poll, Reason, SeriesTable
from tests.certificates import MISSING, certificate
from tests.fixtures import readings

AT = 1_800_000_000.0
PLAN = Plan(racks=1, hosts_per_rack=2, accelerators=1, rails=1, access=("eapi",))
SWITCH = next(name for name, kind in PLAN.makes.items() if kind == "eapi")
PORT = (SWITCH, "Ethernet1/1")


def source(address: str = "", timeout: float = 3.0, **options: str) -> Eapi:
    settings = EapiSettings.model_validate({"timeout": f"{timeout * 1000:.0f}ms"})
    return Eapi(settings, Target(SWITCH, "eapi", address, "", options), SeriesTable())


def look(folder: Path, *results: Any) -> tuple[Poll, SeriesTable]:
    """Return what a capture of these results gives."""
    file = folder / "reply.json"
    file.write_text(json.dumps(list(results)))
    one = source()
    return one.captured([file], AT), one.table


def one(folder: Path, metric: Metric, *results: Any) -> dict[Labels, float]:
    """Return one metric of such a capture, by the labels after the device."""
    poll, table = look(folder, *results)
    return {labels[1:]: value for labels, value in readings(poll, table, metric).items()}


@pytest.fixture
async def switch() -> AsyncIterator[EapiSwitch]:
    fabric = Fabric(PLAN, 1, AT)
    fabric.advance(AT + 10)
    emulated = EapiSwitch(fabric, SWITCH)
    await emulated.start()
    yield emulated
    await emulated.stop()


async def test_a_visit_tells_what_the_switch_is_in(switch: EapiSwitch) -> None:
    reader = source(switch.address)
    poll = await reader.read(AT)
    state = switch.fabric.ports[f"{SWITCH}/Ethernet1/1"]
    assert state.ethernet is not None
    expected = {
        UP: 1.0, SPEED: 400e9, LANES: 4.0, RX_BYTES: int(state.rx_words) * 4.0,
        PRE_FEC_BER: state.ethernet.pre_fec_ber,
        FEC_CORRECTED_CODEWORDS: float(int(state.ethernet.corrected_codewords)),
    }  # fmt: skip
    told = {metric: readings(poll, reader.table, metric)[PORT] for metric in expected}
    assert told == pytest.approx(expected)
    light = readings(poll, reader.table, RX_POWER)
    assert light[*PORT, "4"] == pytest.approx(state.ethernet.module.rx_dbm[3])
    marked = readings(poll, reader.table, ECN_MARKED_PACKETS)
    assert marked[*PORT, "3"] == int(state.ethernet.ecn_marked)
    assert (*PORT, "2") not in marked  # `-`: that queue does not mark
    assert Neighbor(SWITCH, "Ethernet1/1", "host-001", "eth0", "lldp") in poll.neighbors
    await reader.close()


async def test_interfaces_that_are_lanes_of_another_are_no_ports(switch: EapiSwitch) -> None:
    reader = source(switch.address)
    poll = await reader.read(AT)
    assert {port for _, port in readings(poll, reader.table, UP)} == {"Ethernet1/1", "Ethernet2/1",
                                                                      "Ethernet3/1"}  # fmt: skip
    assert {labels[1] for labels in readings(poll, reader.table, OPTICS_INFO)} == {
        "Ethernet1/1", "Ethernet2/1", "Ethernet3/1",
    }  # fmt: skip
    await reader.close()


async def test_a_command_that_fails_costs_only_itself(switch: EapiSwitch) -> None:
    switch.lacking = {"show interfaces phy detail", "show interfaces"}
    switch.forbidden = {"show interfaces counters errors"}
    reader = source(switch.address)
    poll = await reader.read(AT)
    refused = {one.what: one.reason for one in poll.refused}
    assert refused == {
        "show interfaces": Reason.UNSUPPORTED,
        "show interfaces phy detail": Reason.UNSUPPORTED,
        "show priority-flow-control counters watchdog": Reason.UNSUPPORTED,
        "show interfaces counters errors": Reason.FAILED,
    }
    assert poll.missing == ["show interfaces counters errors"]
    assert readings(poll, reader.table, UP)[PORT] == 1.0  # by show interfaces status
    assert len(switch.asked) == 5  # again behind each failure
    switch.asked.clear()
    await reader.read(AT + 30)
    assert len(switch.asked) == 2  # what is unknown is not asked for again; what is forbidden is
    await reader.close()


async def test_what_a_device_lacks_is_tried_again_after_a_while(switch: EapiSwitch) -> None:
    switch.lacking = {"show interfaces"}
    reader = source(switch.address)
    await reader.read(AT)
    switch.lacking = set()
    assert not readings(await reader.read(AT + 300), reader.table, LANES)
    assert readings(await reader.read(AT + 600), reader.table, LANES)
    await reader.close()


async def test_what_moves_slowly_is_read_at_its_own_pace(switch: EapiSwitch) -> None:
    reader = source(switch.address)
    for elapsed in (0, 30, 60):
        poll = await reader.read(AT + elapsed)
        assert bool(readings(poll, reader.table, RX_POWER)) is (elapsed != 30)
        assert readings(poll, reader.table, RX_BYTES)
    await reader.close()


async def test_a_known_target_makes_no_new_series(switch: EapiSwitch) -> None:
    reader = source(switch.address)
    await reader.read(AT)
    known = len(reader.table)
    switch.fabric.advance(AT + 40)
    await reader.read(AT + 60)
    assert len(reader.table) == known
    await reader.close()


async def test_a_cable_that_is_pulled_is_down_and_dark(switch: EapiSwitch) -> None:
    reader = source(switch.address)
    cable = switch.fabric.ports[f"{SWITCH}/Ethernet1/1"].cable
    switch.fabric.unplugged.add(cable.id)
    switch.fabric.advance(AT + 20)
    poll = await reader.read(AT)
    assert readings(poll, reader.table, UP)[PORT] == 0.0
    assert readings(poll, reader.table, ADMIN_UP)[PORT] == 1.0
    assert readings(poll, reader.table, LINK_DOWNS)[PORT] == 1.0
    assert PORT not in readings(poll, reader.table, SPEED)
    assert PORT not in readings(poll, reader.table, PRE_FEC_BER)
    assert readings(poll, reader.table, LOS)[*PORT, "1", "media"] == 1.0
    await reader.close()


async def test_a_storm_shows_in_the_priority_that_pauses(switch: EapiSwitch) -> None:
    port = switch.fabric.ports[f"{SWITCH}/Ethernet1/1"]
    far = switch.fabric.peer(port).ethernet
    assert far is not None
    far.pausing = 0.5
    switch.fabric.advance(AT + 20)
    reader = source(switch.address)
    poll = await reader.read(AT)
    assert readings(poll, reader.table, PFC_RX_FRAMES)[*PORT, "3"] > 0
    assert readings(poll, reader.table, PFC_TX_FRAMES)[*PORT, "3"] == 0
    await reader.close()


async def test_a_command_that_is_too_slow_takes_others_along_only_once(switch: EapiSwitch) -> None:
    switch.slow = {"show interfaces phy detail": 5.0}
    reader = source(switch.address, 0.5)
    with pytest.raises(SourceUnavailable, match=r"within 0\.45 s"):
        await reader.read(AT)
    poll = await reader.read(AT + 30)
    assert readings(poll, reader.table, RX_BYTES)
    assert "show interfaces phy detail" in poll.missing
    switch.slow = {}
    assert readings(await reader.read(AT + 60), reader.table, PRE_FEC_BER)
    await reader.close()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        pytest.param({"password": ("monitor", "right")}, "401", id="a wrong password"),
        pytest.param({"page": "<html>login</html>"}, "HTML", id="a page for people"),
        pytest.param({"page": "busy"}, "no JSON", id="words"),
        pytest.param({"page": "{}"}, "no answer to runCmds", id="JSON of something else"),
        pytest.param(
            {"page": '{"error": {"code": -32602, "message": "bad params"}}'},
            "refused with code -32602: bad params",
            id="a request that is refused",
        ),
        pytest.param({"delay": 2.0}, "within 0.27 s", id="too slow"),
        pytest.param({"forbidden": set(SHOW)}, "no command succeeds", id="may do nothing"),
    ],
)
async def test_what_cannot_be_used_is_one_line(
    switch: EapiSwitch, tmp_path: Path, spoil: dict[str, Any], said: str
) -> None:
    for name, value in spoil.items():
        setattr(switch, name, value)
    (tmp_path / "word").write_text("wr0ng-w0rd")
    reader = source(switch.address, 0.3, user="monitor", secret_file=str(tmp_path / "word"))
    with pytest.raises(SourceUnavailable) as wrong:
        await reader.read(AT)
    await reader.close()
    line = str(wrong.value)
    assert said in line
    assert SWITCH in line
    assert "\n" not in line
    assert "wr0ng" not in line


async def test_user_and_secret_log_in(switch: EapiSwitch, tmp_path: Path) -> None:
    switch.password = ("monitor", "right")
    (tmp_path / "word").write_text("right\n")
    reader = source(switch.address, user="monitor", secret_file=str(tmp_path / "word"))
    assert (await reader.read(AT)).readings > 100
    await reader.close()


@pytest.mark.skipif(MISSING, reason="no openssl tool")
async def test_a_certificate_is_judged_by_ca_or_fingerprint(tmp_path: Path) -> None:
    made = certificate(tmp_path, "switch")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made.file, made.key)
    emulated = EapiSwitch(Fabric(PLAN, 1, AT), SWITCH)
    await emulated.start(context)
    unknown = source(emulated.address)
    with pytest.raises(SourceUnavailable, match="give ca_file or fingerprint"):
        await unknown.read(AT)
    await unknown.close()
    trusts: list[dict[str, Any]] = [{"ca_file": str(made.file)}, {"fingerprint": made.fingerprint}]
    for options in trusts:
        reader = source(emulated.address, **options)
        assert (await reader.read(AT)).readings
        await reader.close()
    await emulated.stop()


async def test_a_capture_gives_what_the_visit_gave(switch: EapiSwitch, tmp_path: Path) -> None:
    reader = source(switch.address)
    live = await reader.read(AT)
    commands = [one for one in switch.asked[0] if one in SHOW]
    file = tmp_path / "answer.json"
    file.write_text(json.dumps({"jsonrpc": "2.0", "id": "x", **switch.outcome(commands)}))
    again = source()
    poll = again.captured([file], AT)
    for metric in Eapi.metrics:
        assert readings(poll, again.table, metric) == readings(live, reader.table, metric)
    assert poll.neighbors == live.neighbors
    assert again.moment([file]) == switch.fabric.now
    await reader.close()


def test_results_of_one_command_that_are_split_over_captures_are_one(tmp_path: Path) -> None:
    def heard(port: str, far: str) -> dict[str, Any]:
        entry = {"systemName": far, "neighborInterfaceInfo": {"interfaceId": '"Ethernet1"'}}
        return {"lldpNeighbors": {port: {"lldpNeighborInfo": [entry]}}}

    results = [heard("Ethernet1", "spine-1"), heard("Ethernet2", "spine-2")]
    for number, result in enumerate(results):
        (tmp_path / f"{number}.json").write_text(json.dumps(result))
    poll = source().captured([tmp_path], AT)
    assert [(one.port, one.remote_device) for one in poll.neighbors] == [
        ("Ethernet1", "spine-1"),
        ("Ethernet2", "spine-2"),
    ]


def phy(location: str, ber: float | None = None, corrected: int | None = None) -> dict[str, Any]:
    told: dict[str, Any] = {"description": {"location": location}}
    if corrected is not None:
        told["fec"] = {"correctedCodewords": {"value": corrected}}
    return told if ber is None else told | {"preFecBer": {"value": ber}}


def phys(*rows: Any) -> dict[str, Any]:
    return {"interfacePhyStatuses": {"Ethernet1/1": {"phyStatuses": list(rows)}}}


def test_of_several_phys_the_worst_of_the_line_side_counts(tmp_path: Path) -> None:
    result = phys(phy("line", 1e-9, 3), phy("system", 1e-3, 999), {}, phy("line", 1e-7, 1))
    assert one(tmp_path, PRE_FEC_BER, result) == {("Ethernet1/1",): 1e-7}
    assert one(tmp_path, FEC_CORRECTED_CODEWORDS, result) == {("Ethernet1/1",): 3.0}


def test_a_phy_without_fec_says_nothing_of_it(tmp_path: Path) -> None:
    poll, table = look(tmp_path, phys({"description": {"location": "line"}}, phy("system", 1e-3)))
    assert poll.readings == 0
    assert not len(table)


def test_the_error_ratio_of_a_link_that_is_down_is_the_past(tmp_path: Path) -> None:
    down = phy("line", 1e-3, 5) | {"phyState": {"value": "linkDown"}}
    assert one(tmp_path, PRE_FEC_BER, phys(down)) == {}
    assert one(tmp_path, FEC_CORRECTED_CODEWORDS, phys(down)) == {("Ethernet1/1",): 5.0}


def test_corrected_symbols_are_counted_over_all_lanes(tmp_path: Path) -> None:
    symbols = {"0": {"value": 4}, "1": {"value": 6}}
    row = phy("line") | {"fec": {"correctedSymbols": symbols}}
    assert one(tmp_path, FEC_CORRECTED_SYMBOLS, phys(row)) == {("Ethernet1/1",): 10.0}


def test_a_lane_named_as_an_interface_belongs_to_the_port_that_runs_it(tmp_path: Path) -> None:
    lanes = {"interfaces": {f"Ethernet5/{n}": {"channel": str(n), "rxPower": -n / 2.0}
                            for n in (1, 2)}}  # fmt: skip
    whole = {"interfaces": {"Ethernet5/1": {"lanes": 2}, "Ethernet5/2": {"lanes": 0}}}
    broken_out = {"interfaces": {"Ethernet5/1": {"lanes": 1}, "Ethernet5/2": {"lanes": 1}}}
    assert one(tmp_path, RX_POWER, whole, lanes) == {
        ("Ethernet5/1", "1"): -0.5, ("Ethernet5/1", "2"): -1.0,
    }  # fmt: skip
    assert one(tmp_path, RX_POWER, broken_out, lanes) == {
        ("Ethernet5/1", "1"): -0.5, ("Ethernet5/2", "2"): -1.0,
    }  # fmt: skip


def test_a_port_that_is_down_keeps_its_lanes(tmp_path: Path) -> None:
    file = tmp_path / "reply.json"
    reader = source()
    for lanes, power in ((2, -1.0), (0, -40.0)):
        told = {"Ethernet5/1": {"lanes": lanes}, "Ethernet5/2": {"lanes": 0}}
        light = {"Ethernet5/2": {"channel": "2", "rxPower": power}}
        file.write_text(json.dumps([{"interfaces": told}, {"interfaces": light}]))
        poll = reader.captured([file], AT)
        assert readings(poll, reader.table, RX_POWER) == {(SWITCH, "Ethernet5/1", "2"): power}


@pytest.mark.parametrize(
    ("changes", "status", "downs"),
    [(0, "notconnect", 0), (1, "connected", 0), (2, "notconnect", 1), (3, "connected", 1),
     (5, "connected", 2), (6, "errdisabled", 3)],
)  # fmt: skip
def test_half_of_the_changes_of_state_are_falls(
    tmp_path: Path, changes: int, status: str, downs: float
) -> None:
    row = {"interfaceStatus": status, "interfaceCounters": {"linkStatusChanges": changes}}
    assert one(tmp_path, LINK_DOWNS, {"interfaces": {"Ethernet1": row}}) == {("Ethernet1",): downs}


def test_only_ports_are_told_of(tmp_path: Path) -> None:
    names = ("Ethernet1", "Port-Channel1", "Vlan7", "Management1", "Loopback0", "Cpu")
    result = {"interfaceErrorCounters": {name: {"inErrors": 1} for name in names}}
    assert one(tmp_path, RX_ERRORS, result) == {("Ethernet1",): 1.0}


def test_one_bad_value_costs_only_itself(tmp_path: Path) -> None:
    rows = {"Ethernet1": {"inErrors": "many", "fcsErrors": 2}, "Ethernet2": {"inErrors": 3},
            "Ethernet3": "?", "Ethernet4": {"inErrors": True}, "Ethernet5": {"inErrors": None},
            "Ethernet6": {"inErrors": 10**400}}  # fmt: skip
    poll, table = look(tmp_path, {"interfaceErrorCounters": rows})
    assert readings(poll, table, RX_ERRORS) == {(SWITCH, "Ethernet2"): 3.0}
    assert sorted((one.reason, one.labels["port"]) for one in poll.refused) == [
        (Reason.MALFORMED, f"Ethernet{n}") for n in (1, 4, 6)
    ]


def test_packets_of_all_kinds_are_one_count(tmp_path: Path) -> None:
    row = {"inUcastPkts": 5, "inMulticastPkts": 2, "inBroadcastPkts": 1}
    assert one(tmp_path, RX_PACKETS, {"interfaces": {"Ethernet1": row}}) == {("Ethernet1",): 8.0}


def test_drops_of_a_class_are_those_of_both_queues_before_the_port(tmp_path: Path) -> None:
    queue = {"ingressVoqCounters": {"countersSum": {"droppedPackets": 4}},
             "egressQueueCounters": {"countersSum": {"droppedPackets": 5}}}  # fmt: skip
    result = {"interfaces": {"Ethernet1": {"trafficClasses": {"TC3": queue}}}}
    assert one(tmp_path, QUEUE_DROPPED_PACKETS, result) == {("Ethernet1", "3"): 9.0}


def test_a_count_of_several_classes_is_of_none(tmp_path: Path) -> None:
    row = {"ucastQueues": {"trafficClasses": {"TC0-5": {"dropPrecedences": {"DP0": {
        "droppedPackets": 1}}}}}}  # fmt: skip
    poll, _ = look(tmp_path, {"egressQueueCounters": {"interfaces": {"Ethernet1": row}}})
    assert [one.reason for one in poll.refused] == [Reason.UNSUPPORTED]
    assert poll.readings == 0


def test_bias_is_in_amperes_and_limits_are_named(tmp_path: Path) -> None:
    told = {"txBias": {"unit": "mA", "channels": {"1": 7.5}, "threshold": {
        "highAlarm": 13.0, "highAlarmOverridden": False, "lowWarn": None}}}  # fmt: skip
    result = {"interfaces": {"Ethernet1": {"parameters": told}}}
    assert one(tmp_path, TX_BIAS, result) == {("Ethernet1", "1"): 0.0075}
    limits = one(tmp_path, THRESHOLD, result)
    assert limits == pytest.approx({("Ethernet1", "tx_bias", "high", "alarm"): 0.013})


def test_a_module_whose_stamp_stands_still_is_stale(tmp_path: Path) -> None:
    file = tmp_path / "reply.json"
    row = {"channel": "1", "rxPower": -2.0, "updateTime": AT - 9}
    file.write_text(json.dumps({"interfaces": {"Ethernet1": row}}))
    reader = source()
    assert readings(reader.captured([file], AT), reader.table, RX_POWER)
    assert readings(reader.captured([file], AT + 299), reader.table, RX_POWER)
    late = reader.captured([file], AT + 301)
    assert not readings(late, reader.table, RX_POWER)
    assert [one.reason for one in late.refused] == [Reason.STALE]


def test_the_code_of_a_port_is_told_by_its_phy(tmp_path: Path) -> None:
    row = phy("line") | {"fec": {"encoding": "reedSolomon544"}}
    status = {"interfaceStatuses": {"Ethernet1/1": {"linkStatus": "connected"}}}
    poll, table = look(tmp_path, status, phys(row))
    (labels,) = readings(poll, table, PORT_INFO)
    assert dict(zip(PORT_INFO.labels, labels, strict=True))["fec"] == "rs544"


def test_a_site_may_add_rules_of_its_own(tmp_path: Path) -> None:
    rules = tmp_path / "own.yaml"
    rules.write_text(
        "about: a newer release\nrules:\n  - below: ports/{port}\n    leaves:\n"
        "      crc: {to: fabric_port_rx_crc_errors_total, as: count}\n"
    )
    file = tmp_path / "reply.json"
    file.write_text(json.dumps({"ports": {"Ethernet1": {"crc": 4}}}))
    reader = source(map=str(rules))
    poll = reader.captured([file], AT)
    assert poll.readings == 1


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("crc: {to: fabric_nothing}", "no metric of the catalogue"),
        ("crc: {to: fabric_optics_rx_power_dbm}", "no label lane"),
        ("crc: {fact: port.colour}", "no fact"),
        ("crc: {}", "give to, fact or stamp"),
        ("crc: {to: fabric_port_up, as: mood}", "as"),
    ],
)
def test_a_wrong_rule_is_one_line(tmp_path: Path, rule: str, said: str) -> None:
    rules = tmp_path / "own.yaml"
    rules.write_text(f"about: x\nrules:\n  - below: a/{{port}}\n    leaves:\n      {rule}\n")
    with pytest.raises(SiteError, match=r"\Aown.yaml: .+\Z") as wrong:
        source(map=str(rules))
    assert said in str(wrong.value)


def test_what_failed_is_told_with_what_came_before() -> None:
    error = {"code": 1002, "message": "CLI command 2 of 3 failed",
             "data": [{"a": 1}, {"errors": ["Invalid input"]}]}  # fmt: skip
    told = eapi.answer({"jsonrpc": "2.0", "error": error})
    assert told.results == [{"a": 1}]
    assert told.failure is not None
    assert (told.failure.unsupported, told.failure.text) == (True, "Invalid input")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "data", "result", "code", "phyStatuses", "fec", "channel",
                             "interfaces", "interfacePhyStatuses", "Ethernet1/1", "value",
                             "correctedSymbols", "description", "lanes"]),
            inner, max_size=4,
        )
    ),
    max_leaves=20,
)  # fmt: skip


@given(document=anything)
def test_any_document_is_an_answer_or_malformed(document: Any) -> None:
    try:
        told = eapi.answer(document)
    except MalformedReply:
        told = None
    for result in told.results if told else [document] if isinstance(document, dict) else []:
        shape, leaves = json_tree.flattened(eapi.read(result))
        assert len(list(json_tree.paths(shape))) == len(leaves)
        list(eapi.lanes(result))


@given(
    tree=st.dictionaries(
        st.text(max_size=3),
        st.recursive(
            st.integers() | st.none(),
            lambda inner: (
                st.dictionaries(st.text(max_size=3), inner, max_size=3)
                | st.lists(inner, max_size=3)
            ),
            max_leaves=10,
        ),
        max_size=4,
    )
)
def test_every_leaf_of_a_tree_is_found_again_by_its_path(tree: dict[str, Any]) -> None:
    shape, leaves = json_tree.flattened(tree)
    for path, leaf in zip(json_tree.paths(shape), leaves, strict=True):
        place: Any = tree
        for key in path:
            place = place[int(key)] if isinstance(place, list) else place[key]
        assert place == leaf


@given(body=st.binary(max_size=60))
def test_any_body_is_a_document_or_malformed(body: bytes) -> None:
    with contextlib.suppress(MalformedReply):
        json.dumps(json_tree.document(body))
