"""The gnmi source: OpenConfig's leaves, SONiC's tables, and streams that break."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.gnmi import captures, values
from collectors.maps import gnmi_rules
from collectors.protocols import gnmi_paths
from collectors.source import Target
from collectors.sources.gnmi import Gnmi, GnmiSettings
from collectors.transports import gnmi_messages
from emulator import gnmi as device
from emulator.gnmi import GnmiDevice
from fabrichealth.catalogue import congestion, devices, optics, ports
from fabrichealth.errors import MalformedReply, SiteError, SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Neighbor, Poll, Reason, SeriesTable
from tests import certificates
from tests.collectors.openconfig_leaf import IF, LEAF, T, notified
from tests.collectors.sonic_switch import port_counters, switch
from tests.fixtures import readings

AT = 1_767_225_600.0
E1 = ("leaf-01", "Ethernet1/1")
EXPECTED = [
    (ports.UP, E1, 1.0),
    (ports.ADMIN_UP, E1, 1.0),
    (ports.SPEED, E1, 4e11),
    (ports.RX_BYTES, E1, 2.0**64),
    (ports.TX_BYTES, E1, 7.0),
    (ports.RX_CRC_ERRORS, E1, 2.0),
    (ports.PRE_FEC_BER, E1, 1.5e-9),
    (ports.FEC_CORRECTED_CODEWORDS, E1, 9.0),
    (optics.SUPPLY, E1, 3.31),
    (optics.TEMPERATURE, E1, 41.5),
    (optics.RX_POWER, (*E1, "1"), -1.5),
    (optics.RX_POWER, (*E1, "2"), -40.0),
    (optics.LOS, (*E1, "1", "media"), 0.0),
    (optics.LOS, (*E1, "2", "media"), 1.0),
    (optics.LOS, (*E1, "1", "host"), 1.0),
    (optics.TX_BIAS, (*E1, "1"), 0.0075),
    (optics.TX_FAULT, (*E1, "2"), 1.0),
    (optics.LASER_AGE, (*E1, "1"), 0.12),
    (optics.SNR, (*E1, "1", "media"), 21.0),
    (optics.THRESHOLD, (*E1, "rx_power", "low", "alarm"), -11.9),
    (optics.THRESHOLD, (*E1, "tx_bias", "high", "warning"), 0.013),
    (devices.DEVICE_TEMPERATURE, ("leaf-01", "Inlet"), 24.0),
    (devices.FAN_SPEED, ("leaf-01", "Fan1"), 4410.0),
    (congestion.QUEUE_TX_PACKETS, (*E1, "3"), 70.0),
    (congestion.ECN_MARKED_PACKETS, (*E1, "3"), 9.0),
    (congestion.QUEUE_WATERMARK, (*E1, "3"), 8400.0),
]


def build(address: str = "", _table: SeriesTable | None = None, /, **options: str) -> Gnmi:
    target = Target("leaf-01", "gnmi", address, "", options)
    settings = GnmiSettings.model_validate({"timeout": "2s", "period": "200ms"})
    return Gnmi(settings, target, SeriesTable() if _table is None else _table)


class Seen:
    def __init__(self, folder: Path, **options: str) -> None:
        self.table, self.folder, self.count = SeriesTable(), folder, 0
        self.source = build("", self.table, **options)

    def poll(self, document: Any) -> Poll:
        self.count += 1
        file = self.folder / f"{self.count}.json"
        file.write_text(json.dumps(document))
        return self.source.captured([file], AT)

    def of(self, metric: Metric, document: Any) -> dict[Labels, float]:
        return readings(self.poll(document), self.table, metric)


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


@pytest.mark.parametrize(("metric", "labels", "value"), EXPECTED)
def test_a_device_of_openconfig_is_read_in_the_catalogues_units(
    seen: Seen, metric: Metric, labels: Labels, value: float
) -> None:
    assert seen.of(metric, notified(LEAF))[labels] == pytest.approx(value)


def test_nothing_else_is_made_up(seen: Seen) -> None:
    poll = seen.poll(notified(LEAF))
    assert poll.refused == []
    assert set(readings(poll, seen.table, ports.UP)) == {E1}  # a loopback is no port
    assert set(readings(poll, seen.table, devices.DEVICE_TEMPERATURE)) == {("leaf-01", "Inlet")}
    assert {labels[2] for labels in readings(poll, seen.table, optics.THRESHOLD)} == {
        "rx_power", "tx_bias",
    }  # fmt: skip
    assert poll.neighbors == [Neighbor(*E1, "spine-1", "Ethernet32", "lldp")]
    (info,) = readings(poll, seen.table, optics.OPTICS_INFO)
    assert info[:5] == (*E1, "ACME", "X-400", "S1")


def test_a_tree_says_what_notifications_say(seen: Seen) -> None:
    tree = {
        "openconfig-interfaces:interfaces": {
            "interface": [{"name": "Ethernet1/1", "state": LEAF[f"{IF}/state"]}]
        }
    }
    assert seen.of(ports.TX_BYTES, tree) == {E1: 7.0}


def test_channels_that_count_from_one_stay(seen: Seen) -> None:
    content = {f"{T}/physical-channels": {"channel": [
        {"index": n, "state": {"output-power": {"instant": "0.5"}}} for n in (1, 2)]}}  # fmt: skip
    assert {labels[2] for labels in seen.of(optics.TX_POWER, notified(content))} == {"1", "2"}


def test_a_neighbour_with_a_mac_has_no_port_and_is_named_once(seen: Seen) -> None:
    row = "/lldp/interfaces/interface[name=e1]/neighbors/neighbor[id={}]/state"
    first = {
        "system-name": "spine-2",
        "port-id": "02:00:5e:00:00:09",
        "port-id-type": "MAC_ADDRESS",
    }
    second = {"system-name": "spine-2", "port-id": "Ethernet16"}
    both = seen.poll(notified({f"{IF}/state": {"oper-status": "UP"},
                               row.format(1): first, row.format(2): second}))  # fmt: skip
    alone = seen.poll(notified({f"{IF}/state": {"oper-status": "UP"}, row.format(1): first}))
    assert [(one.remote_device, one.remote_port) for one in both.neighbors] == [
        ("spine-2", "Ethernet16")
    ]
    assert [one.remote_port for one in alone.neighbors] == [""]


def test_one_bad_leaf_costs_itself(seen: Seen) -> None:
    content = {f"{IF}/state": {"oper-status": "sideways", "admin-status": "UP",
                               "counters": {"in-octets": "lots", "out-octets": "7"}}}  # fmt: skip
    poll = seen.poll(notified(content))
    assert readings(poll, seen.table, ports.TX_BYTES) == {E1: 7.0}
    assert [(one.reason, one.what) for one in poll.refused] == [
        (Reason.MALFORMED, str(ports.UP)),
        (Reason.MALFORMED, str(ports.RX_BYTES)),
    ]


def test_tables_of_sonic_are_read_as_its_redis_is(seen: Seen) -> None:
    queue = {"SAI_QUEUE_STAT_PACKETS": "70", "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "2"}
    group = {"SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS": "13"}
    for document in (
        {"Ethernet8": port_counters(5), "Ethernet8:3": {**queue}, "Ethernet8:4": group},
        {"Ethernet8": port_counters(5) | {"x": "1"}, "Ethernet8:3": queue, "Ethernet8:4": group},
    ):
        poll = seen.poll(document)
        here = ("leaf-01", "Ethernet8")
        assert readings(poll, seen.table, ports.RX_BYTES) == {here: 320.0}
        assert readings(poll, seen.table, congestion.PFC_WATCHDOG_STORMS) == {(*here, "3"): 2.0}
        assert readings(poll, seen.table, congestion.PFC_RX_DROPPED_PACKETS) == {(*here, "4"): 13.0}


def test_a_blob_that_names_no_port_is_the_first_or_the_one_given(tmp_path: Path) -> None:
    row = {"SAI_PORT_STAT_IF_IN_OCTETS": "5"}
    assert Seen(tmp_path).of(ports.RX_BYTES, row) == {("leaf-01", "1"): 5.0}
    named = Seen(tmp_path, port="Ethernet68").of(ports.RX_BYTES, row)
    assert named == {("leaf-01", "Ethernet68"): 5.0}


def test_rates_by_object_need_the_map_of_names(tmp_path: Path) -> None:
    rates = {"RATES:oid:0x1000000000016": {"FEC_PRE_BER": "1e-9"}}
    with pytest.raises(SourceUnavailable, match="nothing in it"):
        Seen(tmp_path).poll(rates)
    folder = tmp_path / "both"
    folder.mkdir()
    (folder / "map.json").write_text(json.dumps({"Ethernet8": "oid:0x1000000000016"}))
    (folder / "rates.json").write_text(json.dumps(rates))
    table = SeriesTable()
    poll = build("", table).captured([folder], AT)
    assert readings(poll, table, ports.PRE_FEC_BER) == {("leaf-01", "Ethernet8"): 1e-9}


def test_the_moment_of_a_capture_is_its_newest_notification(tmp_path: Path) -> None:
    file = tmp_path / "capture.json"
    file.write_text(json.dumps(notified(LEAF, 1_767_225_600_000_000_000)))
    assert build().moment([file]) == pytest.approx(AT)


# Live: against a device that speaks the specification's bytes, encoded by hand.


@pytest.fixture
async def peer() -> AsyncIterator[GnmiDevice]:
    made = GnmiDevice({"": dict(LEAF)}, interval=0.2)
    await made.start()
    yield made
    await made.stop()


async def test_a_stream_gives_each_round(peer: GnmiDevice) -> None:
    table = SeriesTable()
    source = build(f"grpc://127.0.0.1:{peer.port}", table)
    first = await source.read(time.time())
    for metric, labels, value in EXPECTED:
        assert readings(first, table, metric)[labels] == pytest.approx(value)
    assert (first.refused, first.missing) == ([], [])
    known = len(table)
    peer.values[""][f"{IF}/state"] = LEAF[f"{IF}/state"] | {"oper-status": "DOWN"}
    await asyncio.sleep(0.3)
    second = await source.read(time.time())
    await source.close()
    assert readings(second, table, ports.UP) == {E1: 0.0}
    assert len(table) == known
    assert len(peer.asked) == 5  # one stream a group, asked once


async def test_typed_values_and_leaves_say_what_blobs_say() -> None:
    typed: dict[str, Any] = {
        f"{IF}/state/oper-status": "UP",
        f"{IF}/state/counters/in-octets": 2**63,
        f"{T}/physical-channels/channel[index=1]/state/input-power/instant": -2.25,
        f"{T}/physical-channels/channel[index=1]/state/rx-los": True,
        "/components/component[name=Fan1]/fan/state/speed": 300,
    }
    peer = GnmiDevice({"": typed}, interval=0.2)
    await peer.start()
    table = SeriesTable()
    source = build(f"grpc://127.0.0.1:{peer.port}", table)
    poll = await source.read(time.time())
    await source.close()
    await peer.stop()
    assert readings(poll, table, ports.RX_BYTES) == {E1: 2.0**63}
    assert readings(poll, table, optics.RX_POWER) == {(*E1, "1"): pytest.approx(-2.25)}
    assert readings(poll, table, optics.LOS) == {(*E1, "1", "media"): 1.0}
    assert readings(poll, table, devices.FAN_SPEED) == {("leaf-01", "Fan1"): 300.0}
    assert poll.missing == []  # what it has not is not missing


async def test_sonic_is_asked_by_database() -> None:
    rows = switch(1)
    content: dict[str, dict[str, Any]] = {
        "COUNTERS_DB": {"/COUNTERS/Ethernet*": {"Ethernet0": port_counters(5)}},
        "APPL_DB": {"/PORT_TABLE": {"Ethernet0": rows["APPL_DB"]["PORT_TABLE:Ethernet0"]}},
        "STATE_DB": {
            f"/{table}": {"Ethernet0": rows["STATE_DB"][f"{table}|Ethernet0"]}
            for table in ("TRANSCEIVER_INFO", "TRANSCEIVER_DOM_SENSOR")
        },
    }
    peer = GnmiDevice(content, interval=0.2)
    await peer.start()
    table = SeriesTable()
    source = build(f"grpc://127.0.0.1:{peer.port}", table, mapping="sonic")
    poll = await source.read(time.time())
    await source.close()
    await peer.stop()
    here = ("leaf-01", "Ethernet0")
    assert readings(poll, table, ports.RX_BYTES) == {here: 320.0}
    assert readings(poll, table, ports.SPEED) == {here: 4e11}
    assert readings(poll, table, optics.TEMPERATURE) == {here: 41.5}
    assert {labels[2] for labels in readings(poll, table, optics.RX_POWER)} == set("1234")


async def test_a_device_that_restarts_is_subscribed_again(peer: GnmiDevice) -> None:
    source = build(f"grpc://127.0.0.1:{peer.port}")
    assert (await source.read(time.time())).readings
    await peer.stop()
    await asyncio.sleep(0.1)
    with suppress(SourceUnavailable):
        await source.read(time.time())  # what came before it went is still told
    with pytest.raises(SourceUnavailable, match=r"\Aleaf-01: .*connect.*\Z"):
        await source.read(time.time())
    again = GnmiDevice({"": dict(LEAF)}, interval=0.2, port=peer.port)
    await again.start()
    found = 0
    for _ in range(6):
        try:
            found = (await source.read(time.time())).readings
        except SourceUnavailable:
            await asyncio.sleep(0.3)
    await source.close()
    await again.stop()
    assert found


def intervals(peer: GnmiDevice) -> dict[str, list[float]]:
    """Return what was asked for: seconds between samples, by the first word of the first path."""
    found: dict[str, list[float]] = {}
    for request in peer.asked:
        asked = device.fields(device.fields(request)[1][0])[2][0]
        first = device.fields(device.fields(asked)[1][0])[3][0]
        name = device.fields(first)[1][0].decode()
        found.setdefault(name, []).append(device.fields(asked)[3][0] * 1e-9)
    return found


async def test_what_counts_is_sampled_as_often_as_the_device_is_visited() -> None:
    peer = GnmiDevice({"": dict(LEAF)})
    await peer.start()
    table = SeriesTable()
    target = Target("leaf-01", "gnmi", f"grpc://127.0.0.1:{peer.port}")
    settings = GnmiSettings.model_validate({"period": "5s", "timeout": "2s"})
    source = Gnmi(settings, target, table)
    first = await source.read(time.time())
    source.paced = 0.5
    began = time.monotonic()
    close = [await source.read(time.time()) for _ in range(4)]
    took = time.monotonic() - began
    source.paced = settings.period
    last = await source.read(time.time())
    await source.close()
    await peer.stop()
    assert source.closest == 1.0
    asked = intervals(peer)
    assert asked["interfaces"] == [5.0, 0.5, 5.0]
    assert asked["qos"] == [5.0, 0.5, 5.0]
    assert asked["components"] == [5.0, 5.0]  # modules and platform, each as at first
    assert asked["lldp"] == [5.0]
    assert took < 4 * settings.patience  # nobody waits for samples of the slower ones
    assert all(readings(poll, table, ports.UP) for poll in (first, *close, last))
    assert readings(first, table, optics.TEMPERATURE)
    assert not any(readings(poll, table, optics.TEMPERATURE) for poll in close)
    assert [poll.missing for poll in (first, *close)] == [[]] * 5


async def test_a_device_that_does_not_sample_so_often_goes_on_as_usual() -> None:
    peer = GnmiDevice({"": dict(LEAF)}, least=0.4)
    await peer.start()
    target = Target("leaf-01", "gnmi", f"grpc://127.0.0.1:{peer.port}")
    settings = GnmiSettings.model_validate({"period": "500ms", "timeout": "3s"})
    source = Gnmi(settings, target, SeriesTable())
    polls = [await source.read(time.time())]
    source.paced = 0.1
    polls.append(await source.read(time.time()))
    assert source.closest is None  # so the poller asks no more
    source.paced = settings.period
    polls += [await source.read(time.time()) for _ in range(2)]
    await source.close()
    await peer.stop()
    assert all(poll.readings for poll in polls)
    assert [poll.missing for poll in polls] == [[]] * 4
    assert all(one.reason is not Reason.UNSUPPORTED for poll in polls for one in poll.refused)
    assert intervals(peer)["interfaces"] == [0.5, 0.1, 0.5]


async def test_a_device_that_samples_at_its_own_interval_is_not_taken_for_silent() -> None:
    """It takes the subscription, and keeps an interval of its own."""
    peer = GnmiDevice({"": dict(LEAF)}, interval=1.5)
    await peer.start()
    target = Target("leaf-01", "gnmi", f"grpc://127.0.0.1:{peer.port}")
    settings = GnmiSettings.model_validate({"period": "1500ms", "timeout": "600ms"})
    source = Gnmi(settings, target, SeriesTable())
    assert (await source.read(time.time())).readings
    source.paced = 0.1
    assert (await source.read(time.time())).readings  # all there is, since it was asked anew
    nothing = await source.read(time.time())
    assert (nothing.readings, nothing.missing) == (0, [])
    assert source.closest is None
    source.paced = settings.period
    assert (await source.read(time.time())).readings
    await source.close()
    await peer.stop()
    assert intervals(peer)["interfaces"] == [1.5, 0.1, 1.5]


async def test_paths_that_a_device_does_not_know_are_unsupported(peer: GnmiDevice) -> None:
    peer.refused = {"/qos": grpc.StatusCode.INVALID_ARGUMENT}
    source = build(f"grpc://127.0.0.1:{peer.port}")
    poll = await source.read(time.time())
    again = await source.read(time.time())
    await source.close()
    assert [(one.reason, one.what) for one in poll.refused] == [(Reason.UNSUPPORTED, "queues")]
    assert again.refused == []
    assert poll.missing == []
    assert poll.readings
    assert len(peer.asked) == 5  # and are not asked for again at once


async def test_garbage_in_a_stream_costs_itself(peer: GnmiDevice) -> None:
    update = device.block(4, device.block(1, device.path("/interfaces/interface[name=x]/state"))
                          + device.block(3, device.block(11, "{no JSON")))  # fmt: skip
    peer.noise = [b"\xff" * 30, b"\x0a\x05ab", b"", device.block(1, update), b"\x08" * 11]
    table = SeriesTable()
    source = build(f"grpc://127.0.0.1:{peer.port}", table)
    poll = await source.read(time.time())
    await source.close()
    assert readings(poll, table, ports.UP) == {E1: 1.0}
    assert {one.reason for one in poll.refused} == {Reason.MALFORMED}


async def test_what_the_device_stamped_long_ago_is_stale(peer: GnmiDevice) -> None:
    peer.skew = -900.0
    source = build(f"grpc://127.0.0.1:{peer.port}")
    poll = await source.read(time.time())
    await source.close()
    assert poll.readings == 0
    assert {one.reason for one in poll.refused} == {Reason.STALE}


async def test_a_device_that_never_ends_its_round_is_read_all_the_same(peer: GnmiDevice) -> None:
    peer.sync = False
    source = build(f"grpc://127.0.0.1:{peer.port}")
    polls = [await source.read(time.time()) for _ in range(2)]
    await source.close()
    assert all(poll.readings for poll in polls)


async def test_a_password_comes_from_a_file_and_is_never_said(
    peer: GnmiDevice, tmp_path: Path
) -> None:
    peer.password = ("monitor", "hush-hush")
    secret = tmp_path / "secret"
    secret.write_text("wrong-one\n")
    address = f"grpc://127.0.0.1:{peer.port}"
    source = build(address, user="monitor", secret_file=str(secret))
    with pytest.raises(SourceUnavailable, match="access is refused") as wrong:
        await source.read(time.time())
    secret.write_text("hush-hush\n")
    poll = await source.read(time.time())
    await source.close()
    assert "wrong-one" not in str(wrong.value)
    assert poll.readings


GOES_AWAY = """
import asyncio, struct

import emulator.serving
from collectors.source import Target
from collectors.sources.gnmi import Gnmi, GnmiSettings
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import SeriesTable

def frame(kind, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, 0]) + struct.pack(">I", 0) + payload

async def serve(reader, writer):
    await reader.read(24)
    writer.write(frame(4, b""))  # SETTINGS
    await reader.read(1000)
    writer.write(frame(7, struct.pack(">II", 0, 11) + b"too_many_pings"))  # GOAWAY, RFC 9113, 6.8
    await writer.drain()
    writer.close()

async def main():
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        address = "grpc://127.0.0.1:%d" % server.sockets[0].getsockname()[1]
        settings = GnmiSettings.model_validate({"timeout": "2s"})
        source = Gnmi(settings, Target("leaf-01", "gnmi", address), SeriesTable())
        try:
            await source.read(0.0)
        except SourceUnavailable as wrong:
            print(wrong)
        await source.close()

asyncio.run(main())
"""


def test_a_device_that_goes_away_is_one_line_of_ours_and_none_of_the_library() -> None:
    """Whichever of emulator and collectors is imported first; both are in the demo."""
    own = {name: value for name, value in os.environ.items() if name != "GRPC_VERBOSITY"}
    done = subprocess.run(
        [sys.executable, "-c", GOES_AWAY], capture_output=True, text=True, check=True, env=own
    )
    assert done.stderr == ""
    assert done.stdout.startswith("leaf-01: grpc://127.0.0.1:")


@pytest.mark.skipif(certificates.MISSING, reason="no openssl")
async def test_tls_by_an_unknown_authority_is_refused(tmp_path: Path) -> None:
    mine, other = (certificates.certificate(tmp_path, name) for name in ("mine", "other"))
    peer = GnmiDevice({"": dict(LEAF)}, interval=0.2)
    await peer.start(grpc.ssl_server_credentials([(mine.key.read_bytes(), mine.file.read_bytes())]))
    address = f"grpcs://127.0.0.1:{peer.port}"
    source = build(address, ca_file=str(other.file))
    with pytest.raises(SourceUnavailable, match="ca_file"):
        await source.read(time.time())
    await source.close()
    source = build(address, ca_file=str(mine.file))
    poll = await source.read(time.time())
    await source.close()
    await peer.stop()
    assert poll.readings


@pytest.mark.parametrize(
    ("address", "options"),
    [
        ("grpc://", {}),
        ("http://leaf-01", {}),
        ("grpc://a:hush@leaf-01:1", {}),
        ("grpcs://leaf-01:1", {"ca_file": "/nowhere/ca.pem"}),
        ("grpc://leaf-01:1", {"mapping": "other"}),
    ],
)
def test_what_cannot_be_used_is_said_at_once(address: str, options: dict[str, str]) -> None:
    with pytest.raises(SiteError, match=r"\Aleaf-01: .+\Z") as wrong:
        build(address, **options)
    assert "hush" not in str(wrong.value)


# Any bytes and any text.


@given(st.binary(max_size=80))
def test_any_bytes_are_a_notice_or_malformed(raw: bytes) -> None:
    try:
        gnmi_messages.notice(raw)
    except MalformedReply:
        return


@given(st.text(max_size=60), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(
        st.sampled_from(["name", "index", "state", "channel", "x:y", "instant"]), one),
    max_leaves=12,
))  # fmt: skip
def test_any_path_and_value_are_leaves(path: str, value: Any) -> None:
    for leaf in gnmi_paths.leaves(gnmi_paths.steps(path), value):
        for form in values.FORMS:
            values.number(form, leaf.value)


@given(st.text(max_size=80))
def test_any_text_is_documents_or_none(text: str) -> None:
    for document in captures.documents(text):
        for blob in captures.blobs(document):
            captures.is_openconfig(blob)


@pytest.mark.parametrize("wrong", ["fabric_no_such_metric", "fabric_queue_tx_bytes_total"])
def test_a_map_with_a_wrong_name_does_not_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    text = (gnmi_rules.FOLDER / "openconfig.yaml").read_text()
    (tmp_path / "spoiled.yaml").write_text(text.replace("fabric_port_tx_bytes_total", wrong))
    monkeypatch.setattr(gnmi_rules, "FOLDER", tmp_path)
    with pytest.raises(SiteError, match=r"spoiled\.yaml"):
        gnmi_rules.named("spoiled")
