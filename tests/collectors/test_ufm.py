"""UFM's bodies in each form, and an address that serves them."""

import json
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import ufm
from collectors.source import Target
from collectors.sources.ufm import Ufm, UfmSettings
from fabrichealth.catalogue.devices import DEVICE_TEMPERATURE
from fabrichealth.catalogue.optics import LOS, RX_POWER, SNR, SUPPLY, TX_BIAS
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    LANE_ERRORS,
    LINK_DOWNS,
    POST_FEC_BER,
    PRE_FEC_BER,
    SPEED,
    SYMBOL_ERRORS,
    TRANSMIT_WAIT,
    TX_BYTES,
    UP,
)
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from fabrichealth.topology import Topology
from fabrichealth.topology.rows import Device, Link
from tests.fixtures import readings

AT = 1_800_000_000.0
PORT = ("0x00000000000000a1", "1")

PRIMARY = """\
timestamp,source_id,node_guid,port_guid,port_num,PortXmitDataExtended,SymbolErrorCounterExtended,PortXmitWaitExtended,hist0,hist1
1799999990000000,x,0xa1,0xa1,1,1000,3,4000,0,0
1799999995000000,x,0xa1,0xa1,2,,5,7,100,2
1799999990000000,x,0xa1,0xa1,0,9,9,9,9,9
1799999990000000,x,0xa1,0xa1
1799999990000000,x,nobody,0xa1,1,1,1,1,1,1
"""

SECONDARY = """\
Port_Number,Node_GUID,logical_state,Link_speed_active,Link_width_active,Total_Raw_BER,Effective_BER,Raw_Errors_Lane_1,Chip_Temp,Module_Voltage,rx_power_lane_0,rx_power_lane_1,tx_bias_lane_0,snr_media_lane_0,rx_los,Link_Down,Cable_PN
1,0xa1,Active,NDR,4x,1e-9,15e-255,17,55,3300,-2.5,,7.5,5120,0x1,4,P-1
"""

STREAM = {
    "timestamp": "2027-01-15 08:00:00",
    "type": "full",
    "values": [
        {
            "timestamp": 1799999990000000,
            "node_guid": "0xa1",
            "port_num": 1,
            "Infiniband_MBOut_u_Gb": 288,
            "Infiniband_SymbolErrors_u_Errors": 6,
            "Infiniband_LinkDowned_u_Errors": "many",
        }
    ],
}


def source(topology: Topology | None = None, address: str = "", **options: str) -> Ufm:
    target = Target("fabric", "ufm", address, "", options, topology or Topology())
    return Ufm(UfmSettings(), target, SeriesTable())


def look(folder: Path, text: str, topology: Topology | None = None) -> tuple[Poll, SeriesTable]:
    file = folder / "body"
    file.write_text(text)
    one = source(topology)
    return one.captured([file], AT), one.table


def test_columns_are_found_by_name_wherever_they_stand(tmp_path: Path) -> None:
    poll, table = look(tmp_path, PRIMARY)
    assert readings(poll, table, TX_BYTES) == {PORT: 4000.0}
    assert readings(poll, table, SYMBOL_ERRORS) == {PORT: 3.0, (PORT[0], "2"): 5.0}
    lines = [line.split(",") for line in PRIMARY.splitlines()[:2]]
    turned = "\n".join(",".join(reversed(line)) for line in lines)
    poll, table = look(tmp_path, turned)
    assert readings(poll, table, TX_BYTES) == {PORT: 4000.0}


def test_each_row_counts_at_its_own_time(tmp_path: Path) -> None:
    poll, _ = look(tmp_path, PRIMARY)
    assert [batch.at for batch in poll.batches] == [AT - 10, AT - 5]


def test_a_histogram_of_zeros_is_of_a_link_without_fec(tmp_path: Path) -> None:
    poll, table = look(tmp_path, PRIMARY)
    port = (PORT[0], "2")
    assert readings(poll, table, FEC_CODEWORDS) == {(*port, "0"): 100, (*port, "1"): 2}


def test_rows_of_another_shape_cost_only_themselves(tmp_path: Path) -> None:
    poll, _ = look(tmp_path, PRIMARY)
    # waiting is counted in ticks, whose length no speed of these ports tells
    waits = [Reason.UNSUPPORTED] * 2
    assert sorted(one.reason for one in poll.refused) == [Reason.MALFORMED] * 2 + waits


ROWS = "node_guid,port_num,PortXmitDataExtended,timestamp\n"


def test_a_port_twice_in_a_poll_is_refused_and_the_first_kept(tmp_path: Path) -> None:
    poll, table = look(tmp_path, ROWS + "0xa1,1,100,\n0xa1,1,900,\n")
    assert readings(poll, table, TX_BYTES) == {PORT: 400.0}
    assert [one.reason for one in poll.refused] == [Reason.DUPLICATE]


@pytest.mark.parametrize(
    "row",
    ["0xa1,1,1e400,", "0xa1,1,18446744073709551616,", "0xa1,1,5,99999999999999999999",
     "0xa1,1,5,nan", "0xa1,1,5,-5"],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_never_kept(tmp_path: Path, row: str) -> None:
    poll, table = look(tmp_path, ROWS + row + "\n")
    assert readings(poll, table, TX_BYTES) == {}
    assert [one.reason for one in poll.refused] == [Reason.MALFORMED]


def test_ticks_of_waiting_need_a_rate(tmp_path: Path) -> None:
    poll, table = look(tmp_path, PRIMARY)
    assert readings(poll, table, TRANSMIT_WAIT) == {}
    known = Topology(
        [Device(name="leaf", role="switch", ids=("0x00000000000000A1",)),
         Device(name="host", role="host")],
        [Link(a="leaf/1", b="host/x", technology="ib", speed_gbps=400)],
    )  # fmt: skip
    poll, table = look(tmp_path, PRIMARY, known)
    wait = readings(poll, table, TRANSMIT_WAIT)
    assert wait == {("leaf", "1"): pytest.approx(4000 * 32 / 400e9)}


def test_the_second_set_tells_of_light_and_ratios(tmp_path: Path) -> None:
    poll, table = look(tmp_path, SECONDARY)
    expected = {UP: 1, SPEED: 400e9, PRE_FEC_BER: 1e-9, SUPPLY: 3.3, LINK_DOWNS: 4}
    assert {metric: readings(poll, table, metric) for metric in expected} == {
        metric: {PORT: pytest.approx(value)} for metric, value in expected.items()
    }
    assert readings(poll, table, POST_FEC_BER) == {}  # the mark for nothing measured
    assert readings(poll, table, LANE_ERRORS) == {(*PORT, "2"): 17}
    assert readings(poll, table, RX_POWER) == {(*PORT, "1"): -2.5}
    assert readings(poll, table, LOS) == {(*PORT, "1", "media"): 1.0}
    assert readings(poll, table, TX_BIAS) == {(*PORT, "1"): pytest.approx(0.0075)}
    assert readings(poll, table, SNR) == {(*PORT, "1", "media"): 20.0}
    assert readings(poll, table, DEVICE_TEMPERATURE) == {(PORT[0], "chip"): 55.0}


@pytest.mark.parametrize(
    "text", [json.dumps(STREAM), json.dumps(STREAM) + "\n" + json.dumps(STREAM)]
)
def test_the_stream_spells_otherwise(tmp_path: Path, text: str) -> None:
    poll, table = look(tmp_path, text)
    assert readings(poll, table, TX_BYTES) == {PORT: 288.0}
    assert readings(poll, table, SYMBOL_ERRORS) == {PORT: 6.0}
    assert {refused.what for refused in poll.refused} == {f"{LINK_DOWNS}"}


LINKS = [
    {"source_guid": "a1", "source_port": "1", "destination_guid": "b1", "destination_port": "2"}
]
PORTS = [{"guid": "a1", "number": 1, "logical_state": "Down", "peer": "00000000000000b1_2"}]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        pytest.param(PRIMARY, "", id="telemetry"),
        pytest.param(json.dumps(STREAM), "/json/metrics", id="JSON"),
        pytest.param("", "/ufmRest", id="REST"),
    ],
)
async def test_an_address_is_read(text: str, where: str, tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.headers.get("Authorization", "") != "Basic bW9uaXRvcjpzM2NyZXQ=":
            return web.Response(status=401)
        if request.path.endswith("/links"):
            return web.json_response(LINKS)
        if request.path.endswith("/ports"):
            return web.json_response(PORTS)
        right = request.path == (where or "/csv/metrics")
        return web.Response(text=text) if right else web.Response(status=404)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    async with TestServer(app) as server:
        address = f"http://127.0.0.1:{server.port}{where}"
        one = source(address=address, user="monitor", secret_file=str(secret))
        poll = await one.read(AT)
        await one.close()
        if where == "/ufmRest":
            far = ("0x00000000000000b1", "2")
            assert set(poll.neighbors) == {
                Neighbor(*PORT, *far, "ufm"), Neighbor(*far, *PORT, "ufm"),
            }  # fmt: skip
            assert readings(poll, one.table, UP)[PORT] == 0.0
        else:
            assert PORT in readings(poll, one.table, TX_BYTES)
        secret.write_text("wrong")
        stranger = source(address=address, user="monitor", secret_file=str(secret))
        with pytest.raises(SourceUnavailable, match=r"fabric: .*401") as refused:
            await stranger.read(AT)
        assert "wrong" not in str(refused.value)
        await stranger.close()


@given(st.data(), st.sampled_from([PRIMARY, SECONDARY, json.dumps(STREAM), json.dumps(LINKS)]))
def test_any_body_is_read_or_malformed(data: st.DataObject, text: str) -> None:
    start = data.draw(st.integers(0, len(text)))
    text = text[:start] + data.draw(st.text(max_size=20)) + text[start:]
    try:
        for table in ufm.tables(text):
            assert all(len(row) == len(table.names) for row in table.rows)
    except MalformedReply:
        return


@given(st.text() | st.integers() | st.floats() | st.none() | st.booleans())
def test_any_cell_is_a_number_none_or_malformed(cell: object) -> None:
    ufm.guid(cell), ufm.port(cell), ufm.moment(cell)
    try:
        ufm.number(cell)
    except MalformedReply:
        return
