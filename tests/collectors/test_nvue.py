"""Switches over NVUE's REST API: emulated ones of three releases, and bodies by hand."""

import json
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import json_tree, nvue
from collectors.source import Target
from collectors.sources.nvue import Nvue, NvueSettings
from emulator.fabric import Fabric
from emulator.nvue import CUMULUS, NVOS, OLDER, NvueSwitch
from emulator.plan import Plan
from fabrichealth.catalogue.congestion import (
    ECN_MARKED_PACKETS,
    PFC_RX_PAUSE,
    QUEUE_DROPPED_PACKETS,
)
from fabrichealth.catalogue.devices import DEVICE_TEMPERATURE
from fabrichealth.catalogue.infiniband import LOCAL_INTEGRITY_ERRORS
from fabrichealth.catalogue.optics import OPTICS_INFO, RX_POWER, SNR, SUPPLY, TEMPERATURE, TX_BIAS
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    LANE_PRE_FEC_BER,
    LANES,
    LINK_DOWNS,
    LINK_RECOVERIES,
    PORT_INFO,
    POST_FEC_BER,
    PRE_FEC_BER,
    RX_BYTES,
    RX_CRC_ERRORS,
    SPEED,
    SYMBOL_ERRORS,
    TRANSMIT_WAIT,
    UP,
)
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Neighbor, Poll, Reason, SeriesTable
from tests.fixtures import readings

AT = 1_800_000_000.0
PLAN = Plan(racks=1, hosts_per_rack=3, accelerators=2, rails=1, access=("nvue",))
LEAF = next(name for name, kind in PLAN.makes.items() if kind == "nvue")
NVSWITCH = "host-001-nvswitch0"


def source(name: str, address: str = "", timeout: str = "3s", **options: str) -> Nvue:
    settings = NvueSettings.model_validate({"timeout": timeout})
    return Nvue(settings, Target(name, "nvue", address, "", options), SeriesTable())


@asynccontextmanager
async def serving(release: str, **fields: Any) -> Any:
    """Serve an emulated switch of a release for a while."""
    fabric = Fabric(PLAN, 1, AT)
    fabric.advance(AT + 10)
    switch = NvueSwitch(fabric, NVSWITCH if release == NVOS else LEAF, release, **fields)
    await switch.start()
    reader = source(switch.name, switch.address)
    try:
        yield switch, reader
    finally:
        await reader.close()
        await switch.stop()


def look(folder: Path, **bodies: Any) -> tuple[Poll, SeriesTable]:
    """Return what a folder of these bodies gives, each in a file of its name."""
    for name, body in bodies.items():
        (folder / f"{name}.json").write_text(json.dumps(body))
    one = source(LEAF)
    return one.captured([folder], AT), one.table


def one(folder: Path, metric: Metric, **bodies: Any) -> dict[Labels, float]:
    """Return one metric of such a capture, by the labels after the device."""
    poll, table = look(folder, **bodies)
    return {labels[1:]: value for labels, value in readings(poll, table, metric).items()}


@pytest.mark.parametrize("release", [CUMULUS, OLDER])
async def test_each_release_tells_of_ports_queues_and_light(release: str) -> None:
    async with serving(release) as (switch, reader):
        poll = await reader.read(AT)
        state = switch.fabric.ports[f"{LEAF}/swp1"]
        port = (LEAF, "swp1")
        table = reader.table
        assert readings(poll, table, UP)[port] == 1.0
        assert readings(poll, table, SPEED)[port] == 400e9
        assert readings(poll, table, LANES)[port] == 4.0
        assert readings(poll, table, RX_BYTES)[port] == int(state.rx_words) * 4
        assert readings(poll, table, ECN_MARKED_PACKETS)[*port, "3"] == int(
            state.ethernet.ecn_marked
        )
        light = readings(poll, table, RX_POWER)
        assert light[*port, "4"] == pytest.approx(state.ethernet.module.rx_dbm[3], abs=0.01)
        assert readings(poll, table, TX_BIAS)[*port, "1"] == pytest.approx(0.06, rel=0.05)
        assert readings(poll, table, TEMPERATURE)[port] == pytest.approx(46, abs=5)
        assert readings(poll, table, SUPPLY)[port] == pytest.approx(3.31)
        assert Neighbor(LEAF, "swp1", "host-001", "eth0", "lldp") in poll.neighbors
        assert {labels[1] for labels in readings(poll, table, UP)} == {"swp1", "swp2", "swp3",
                                                                       "swp4"}  # fmt: skip
        assert poll.missing == []


async def test_what_is_counted_before_fec_and_after_it() -> None:
    async with serving(CUMULUS) as (switch, reader):
        poll = await reader.read(AT)
        state = switch.fabric.ports[f"{LEAF}/swp1"].ethernet
        port = (LEAF, "swp1")
        assert readings(poll, reader.table, PRE_FEC_BER)[port] == pytest.approx(
            state.pre_fec_ber, rel=0.4
        )
        assert port not in readings(poll, reader.table, POST_FEC_BER)  # 15E-255: not measured
        bins = readings(poll, reader.table, FEC_CODEWORDS)
        assert bins[*port, "1"] == int(state.codewords[1])
        assert len([labels for labels in bins if labels[1] == "swp1"]) == 16
        lanes = {labels[2] for labels in readings(poll, reader.table, SNR)}
        assert lanes == {"1", "2", "3", "4"}  # 0 dB: a lane that is not used


async def test_which_of_two_codes_it_is_the_speed_of_a_lane_tells() -> None:
    async with serving(CUMULUS) as (_, reader):
        poll = await reader.read(AT)
        place = PORT_INFO.labels.index("fec")
        assert {labels[place] for labels in readings(poll, reader.table, PORT_INFO)} == {"rs544"}


async def test_an_nvlink_switch_tells_of_the_links_to_its_accelerators() -> None:
    async with serving(NVOS) as (switch, reader):
        port = switch.fabric.ports[f"{NVSWITCH}/nvlink/0"]
        port.symbol_errors, port.recoveries, port.crc_errors = 5, 2, 1
        poll = await reader.read(AT)
        acp = (NVSWITCH, "acp1")
        table = reader.table
        assert readings(poll, table, SYMBOL_ERRORS)[acp] == 5
        assert readings(poll, table, LINK_RECOVERIES)[acp] == 2
        assert readings(poll, table, RX_CRC_ERRORS)[acp] == 1
        assert readings(poll, table, LOCAL_INTEGRITY_ERRORS)[acp] == 0
        assert readings(poll, table, LANE_PRE_FEC_BER)[*acp, "2"] == 2e-9
        ticks = 1000 * 32 / (port.gbps * 1e9)
        assert readings(poll, table, TRANSMIT_WAIT)[acp] == pytest.approx(ticks)
        facts = {labels[1]: dict(zip(PORT_INFO.labels, labels, strict=True))
                 for labels in readings(poll, table, PORT_INFO)}  # fmt: skip
        assert facts["acp1"]["technology"] == "nvlink"
        counters = [path for path in switch.asked if "counters" in path and "qos" not in path]
        assert counters == ["interface?rev=operational&include=/*/counters"]  # one for all


async def test_requests_are_few_and_bounded() -> None:
    async with serving(CUMULUS) as (switch, reader):
        await reader.read(AT)
        assert switch.most_open <= reader.settings.at_once
        switch.asked.clear()
        await reader.read(AT + 30)
        assert {path.partition("/")[2].rpartition("/")[2] for path in switch.asked[1:]} == {
            "counters"
        }  # which hold the queues' as well
        assert len(switch.asked) == 1 + 4


async def test_a_known_target_makes_no_new_series() -> None:
    async with serving(CUMULUS) as (switch, reader):
        await reader.read(AT)
        known = len(reader.table)
        switch.fabric.advance(AT + 40)
        await reader.read(AT + 60)
        assert len(reader.table) == known


async def test_a_cable_that_is_pulled_is_down() -> None:
    async with serving(CUMULUS) as (switch, reader):
        switch.fabric.unplugged.add(switch.fabric.ports[f"{LEAF}/swp1"].cable.id)
        switch.fabric.advance(AT + 20)
        poll = await reader.read(AT)
        assert readings(poll, reader.table, UP)[LEAF, "swp1"] == 0.0
        assert readings(poll, reader.table, LINK_DOWNS)[LEAF, "swp1"] == 1.0
        assert (LEAF, "swp1") not in readings(poll, reader.table, SPEED)
        assert not [one for one in poll.neighbors if one.port == "swp1"]


async def test_what_a_switch_has_nowhere_is_said_once_in_a_while() -> None:
    async with serving(CUMULUS, lacking={"phy-detail", "fan"}) as (switch, reader):
        poll = await reader.read(AT)
        assert {(one.what, one.reason) for one in poll.refused} == {
            ("phys", Reason.UNSUPPORTED), ("fans", Reason.UNSUPPORTED),
        }  # fmt: skip
        assert readings(poll, reader.table, RX_POWER)
        switch.lacking = set()
        assert (await reader.read(AT + 60)).refused == []
        assert readings(await reader.read(AT + 600), reader.table, PRE_FEC_BER)


async def test_what_does_not_come_in_time_is_missing_and_the_rest_is_kept() -> None:
    async with serving(CUMULUS, slow={"swp2/link/phy-detail": 1.5}) as (switch, _):
        reader = source(LEAF, switch.address, "1s")
        poll = await reader.read(AT)
        assert "interface/swp2/link/phy-detail" in poll.missing
        assert readings(poll, reader.table, PRE_FEC_BER).keys() == {
            (LEAF, f"swp{n}") for n in (1, 3, 4)
        }
        assert readings(poll, reader.table, RX_BYTES)
        await reader.close()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({"password": ("monitor", "right")}, "401", id="a wrong password"),
        pytest.param({"page": "<html>login</html>"}, "HTML", id="a page for people"),
        pytest.param({"page": "[]"}, "has no interfaces", id="JSON of something else"),
        pytest.param({"slow": {"interface": 1.0}}, "within 0.3 s", id="too slow"),
        pytest.param({"lacking": {"interface"}}, "404", id="another API"),
    ],
)
async def test_what_cannot_be_used_is_one_line(fields: dict[str, Any], said: str) -> None:
    async with serving(CUMULUS, **fields) as (switch, _):
        reader = source(LEAF, switch.address, "300ms")
        with pytest.raises(SourceUnavailable) as wrong:
            await reader.read(AT)
        await reader.close()
        assert said in str(wrong.value)
        assert LEAF in str(wrong.value)
        assert "\n" not in str(wrong.value)


LINK = {"state": {"up": {}}, "speed": "400G", "mtu": 9216}


@pytest.mark.parametrize(
    ("name", "body", "metric", "labels"),
    [
        ("all", {"swp7": {"type": "swp", "link": LINK}}, UP, ("swp7",)),
        ("swp7", {"type": "swp", "link": LINK}, UP, ("swp7",)),
        ("swp7", LINK, SPEED, ("swp7",)),
        ("reply", LINK, SPEED, ("1",)),
        ("swp7", {"in-bytes": 5, "in-pkts": 1}, RX_BYTES, ("swp7",)),
        ("swp7", {"raw-ber": "3E-6", "raw-ber-lane0": "9E-7"}, PRE_FEC_BER, ("swp7",)),
        ("swp7", {"pfc-stats": {"3": {"rx-pause-duration": 7}}}, PFC_RX_PAUSE, ("swp7", "3")),
        ("all", {"swp7": {"vendor-sn": "S", "voltage": "3.3 V"}}, SUPPLY, ("swp7",)),
        ("swp7", {"vendor-sn": "S", "voltage": "3.3 V"}, SUPPLY, ("swp7",)),
        ("all", {"interface": {"swp7": {"link": LINK}}}, UP, ("swp7",)),
        ("all", {"operational": {"swp7": {"link": LINK}}}, UP, ("swp7",)),
    ],
)
def test_a_body_is_told_by_the_names_in_it(
    tmp_path: Path, name: str, body: Any, metric: Metric, labels: Labels
) -> None:
    assert list(one(tmp_path, metric, **{name: body})) == [labels]


def test_a_folder_of_bodies_is_one_poll(tmp_path: Path) -> None:
    interfaces = {"swp1": {"type": "swp", "link": LINK}, "bond1": {"type": "bond", "link": LINK}}
    poll, table = look(tmp_path, interfaces=interfaces, swp1={"in-bytes": 9, "in-pkts": 1},
                       modules={"swp1": {"vendor-sn": "S9", "vendor-name": "ACME"}})  # fmt: skip
    assert readings(poll, table, UP) == {(LEAF, "swp1"): 1.0}
    assert readings(poll, table, RX_BYTES) == {(LEAF, "swp1"): 9.0}
    (labels,) = readings(poll, table, OPTICS_INFO)
    assert labels[2:5] == ("ACME", "", "S9")


def test_text_that_was_rounded_for_people_counts_nothing(tmp_path: Path) -> None:
    poll, table = look(tmp_path, swp1={"in-bytes": "9.73 MB", "out-bytes": "300 Bytes"})
    assert readings(poll, table, RX_BYTES) == {}
    assert [(one.reason, one.raw) for one in poll.refused] == [(Reason.MALFORMED, "9.73 MB")]
    assert poll.readings == 1


def test_drops_of_a_queue_are_added_up(tmp_path: Path) -> None:
    body = {"egress-queue-stats": {"3": {"tx-uc-buffer-discards": 4, "wred-discards": 5}}}
    assert one(tmp_path, QUEUE_DROPPED_PACKETS, swp1=body) == {("swp1", "3"): 9.0}


@pytest.mark.parametrize(
    ("told", "downs"),
    [
        ({"carrier-down-count": 3, "carrier-transitions": 9}, 3),
        ({"carrier-transitions": 7}, 3),
        ({"carrier-down-count": "n/a", "carrier-transitions": 7}, 3),
    ],
)
def test_falls_are_whole_however_they_are_counted(
    tmp_path: Path, told: dict[str, Any], downs: float
) -> None:
    body = {"in-bytes": 1, **told}
    assert one(tmp_path, LINK_DOWNS, swp1=body) == {("swp1",): downs}


def test_temperatures_of_the_switch_are_by_sensor(tmp_path: Path) -> None:
    body = {"platform": {"environment": {"temperature": {"ASIC": {"current": "51.00"}}}}}
    assert one(tmp_path, DEVICE_TEMPERATURE, all=body) == {("ASIC",): 51.0}


def trees() -> Iterator[str]:
    yield from ("link", "state", "up", "swp1", "counters", "in-bytes", "type", "vendor-sn",
                "operational", "interface", "platform", "raw-ber", "speed", "neighbor")  # fmt: skip


@given(
    document=st.recursive(
        st.none() | st.integers() | st.text(max_size=6),
        lambda inner: (
            st.dictionaries(st.sampled_from(list(trees())), inner, max_size=4)
            | st.lists(inner, max_size=2)
        ),
        max_leaves=16,
    )
)
def test_any_document_is_placed_or_malformed(document: Any) -> None:
    try:
        tree = nvue.captured(document, "swp1")
    except MalformedReply:
        return
    assert tree.keys() <= nvue.ROOTS | tree.keys()
    json_tree.merge(tree, {"interface": {"swp1": {}}})
    nvue.holds(tree, {"in-bytes"})


@given(left=st.dictionaries(st.text(max_size=2), st.integers()))
def test_a_merge_keeps_what_was_first(left: dict[str, int]) -> None:
    tree: dict[str, Any] = {"a": dict(left)}
    json_tree.merge(tree, {"a": dict.fromkeys([*left, "new"], -1)})
    assert tree["a"] == {"new": -1} | left
