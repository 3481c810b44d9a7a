"""The host source on captures: files told apart by content, ports named as the contract says."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collectors.source import Target
from collectors.sources.host import Host, HostSettings
from emulator.hosttree import HostTree, nics
from fabrichealth.catalogue.congestion import PFC_RX_FRAMES, ROCE_OUT_OF_SEQUENCE
from fabrichealth.catalogue.devices import DEVICE_INFO
from fabrichealth.catalogue.optics import RX_POWER, TEMPERATURE
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    FEC_CORRECTED_CODEWORDS,
    PORT_INFO,
    RX_BYTES,
    RX_CRC_ERRORS,
    SPEED,
    UP,
)
from fabrichealth.errors import SourceUnavailable
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from tests.fixtures import readings

STATISTICS = "NIC statistics:\n     rx_bytes_phy: 500\n     rx_prio3_pause: 7\n"
SETTINGS = "Settings for eth5:\n\tSpeed: 400000Mb/s\n\tLanes: 4\n\tLink detected: yes\n"
DRIVER = "driver: mlx5_core\nversion: 6.8\nfirmware-version: 28.40\nbus-info: 0000:3b:00.0\n"
FEC = (
    "FEC parameters for eth5:\nActive FEC encoding: RS\nStatistics:\n"
    "  corrected_blocks: 40\n  fec_symbols_err_0: 900\n  fec_symbols_err_1_to_3: 9\n"
)
MODULE = (
    "\tIdentifier : 0x03 (SFP)\n\tConnector : 0x07 (LC)\n"
    "\tModule temperature : 41.50 degrees C / 106.70 degrees F\n"
    "\tReceiver signal average optical power : 0.5012 mW / -3.00 dBm\n"
)


def read(*files: Path, **options: str) -> tuple[Poll, SeriesTable]:
    table = SeriesTable()
    source = Host(HostSettings(), Target("capture", "host", options=options), table)
    return source.captured(list(files), at=0.0), table


def values(taken: tuple[Poll, SeriesTable], metric: Metric) -> dict[Labels, float]:
    return readings(*taken, metric)


def folder(root: Path, **files: str) -> Path:
    """Return a folder with these files; `__` in a name is a dot."""
    root.mkdir(exist_ok=True)
    for name, text in files.items():
        (root / name.replace("__", ".")).write_text(text)
    return root


def test_a_reply_that_names_no_interface_is_about_port_1(tmp_path: Path) -> None:
    (tmp_path / "dump.txt").write_text(STATISTICS)
    assert values(read(tmp_path / "dump.txt"), RX_BYTES) == {("capture", "1"): 500.0}


def test_the_port_may_be_given(tmp_path: Path) -> None:
    (tmp_path / "dump.txt").write_text(STATISTICS)
    taken = read(tmp_path / "dump.txt", port="eth9", driver="mlx5_core")
    assert values(taken, PFC_RX_FRAMES) == {("capture", "eth9", "3"): 7.0}


def test_files_of_a_folder_are_told_apart_and_share_the_interface_one_names(
    tmp_path: Path,
) -> None:
    taken = read(
        folder(tmp_path / "x", a=STATISTICS, b=SETTINGS, c=DRIVER, d=FEC, e=MODULE, f__stderr="")
    )
    port = ("capture", "eth5")
    assert values(taken, RX_BYTES) == {port: 500.0}
    assert values(taken, SPEED) == {port: 4e11}
    assert values(taken, UP) == {port: 1.0}
    assert values(taken, FEC_CORRECTED_CODEWORDS) == {port: 40.0}
    assert values(taken, FEC_CODEWORDS) == {(*port, "0"): 900.0}  # 1 to 3 are no bin of ours
    assert values(taken, RX_POWER) == {(*port, "1"): pytest.approx(-3.0)}
    (info,) = values(taken, PORT_INFO)
    assert dict(zip(PORT_INFO.labels, info, strict=True))["fec"] == "rs544"
    assert dict(zip(PORT_INFO.labels, info, strict=True))["uid"] == "0000:3b:00.0/0"
    assert list(values(taken, DEVICE_INFO)) == [("capture", "", "28.40", "mlx5_core", "")]
    assert taken[0].refused == []


def test_several_of_a_kind_go_by_their_files(tmp_path: Path) -> None:
    other = STATISTICS.replace("500", "600")
    taken = read(folder(tmp_path / "x", eth0__stat__txt=STATISTICS, eth1__stat__txt=other))
    assert values(taken, RX_BYTES) == {("capture", "eth0"): 500.0, ("capture", "eth1"): 600.0}


def test_files_of_one_name_go_together(tmp_path: Path) -> None:
    taken = read(
        folder(
            tmp_path / "x",
            a__settings=SETTINGS,
            a__statistics=STATISTICS,
            b__settings=SETTINGS.replace("eth5", "eth6"),
            b__statistics=STATISTICS.replace("500", "600"),
        )
    )
    assert values(taken, RX_BYTES) == {("capture", "eth5"): 500.0, ("capture", "eth6"): 600.0}


def test_json_of_ethtool_and_rdma_names_its_ports(tmp_path: Path) -> None:
    groups = [{"ifname": "eth0", "eth-mac": {"FrameCheckSequenceErrors": 4}, "rmon": {}}]
    rdma = [{"ifname": "mlx5_3", "port": 1, "out_of_sequence": 8}]
    taken = read(folder(tmp_path / "x", a=json.dumps(groups), b=json.dumps(rdma)))
    assert values(taken, RX_CRC_ERRORS) == {("capture", "eth0"): 4.0}
    assert values(taken, ROCE_OUT_OF_SEQUENCE) == {("capture", "mlx5_3/1"): 8.0}


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        ("netlink error: Operation not supported\n", Reason.UNSUPPORTED),
        ("netlink error: Operation not permitted\n", Reason.FAILED),
    ],
)
def test_a_tool_that_failed_is_counted_and_nothing_is_read(
    tmp_path: Path, stderr: str, reason: Reason
) -> None:
    (tmp_path / "module").write_text("")
    (tmp_path / "module.stderr").write_text(stderr)
    poll, _ = read(tmp_path / "module")
    assert [one.reason for one in poll.refused] == [reason]
    assert poll.readings == 0


def test_a_file_of_something_else_costs_only_itself(tmp_path: Path) -> None:
    taken = read(folder(tmp_path / "x", a=STATISTICS, notes="as seen on Monday", bad="{"))
    assert values(taken, RX_BYTES) == {("capture", "1"): 500.0}
    assert [one.reason for one in taken[0].refused] == [Reason.MALFORMED] * 2


def test_a_capture_of_something_else_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("as seen on Monday")
    with pytest.raises(SourceUnavailable, match="not of a host"):
        read(tmp_path / "notes")


@pytest.mark.parametrize("root", ["", "sys", "sys/class", "sys/class/net", "sys/class/net/eth0"])
def test_a_tree_on_disk_is_a_capture_whatever_its_root(tmp_path: Path, root: str) -> None:
    tree = HostTree(tmp_path, nics(1, ethernet=True), boot=1e9)
    tree.nics[0].statistics["rx_bytes"] = 12
    tree.update()
    assert values(read(tmp_path / root), RX_BYTES)["capture", "eth0"] == 12.0


def test_the_files_of_a_tree_named_one_by_one_are_that_tree(tmp_path: Path) -> None:
    HostTree(tmp_path, nics(1, ethernet=False), boot=1e9).update()
    device = tmp_path / "sys/class/infiniband/mlx5_0"
    taken = read(*(path for path in device.rglob("*") if path.is_file()))
    assert values(taken, UP) == {("capture", "mlx5_0/1"): 1.0}


def test_captures_in_order_are_polls_of_one_host(tmp_path: Path) -> None:
    table = SeriesTable()
    source = Host(HostSettings(), Target("capture", "host"), table)
    path = "class/infiniband/mlx5_0/ports/1/hw_counters/"
    polls = []
    for at, value in enumerate((2**32 - 5, 5)):
        capture = tmp_path / f"{at}.json"
        files = {f"{path}out_of_sequence": f"{value}\n", f"{path}rx_dct_connect": "0\n"}
        capture.write_text(json.dumps({"files": files}))
        polls.append(source.captured([capture], float(at)))
    found = [readings(poll, table, ROCE_OUT_OF_SEQUENCE) for poll in polls]
    key = ("capture", "mlx5_0/1")
    assert found == [{key: 2.0**32 - 5}, {key: 2.0**32 + 5}]


def test_a_tree_and_tools_together_take_the_better_witness(tmp_path: Path) -> None:
    HostTree(tmp_path / "tree", nics(1, ethernet=True), boot=1e9).update()
    statistics = tmp_path / "ethtool.txt"
    statistics.write_text(f"# ethtool -S eth0\n{STATISTICS}")
    taken = read(tmp_path / "tree", statistics)
    assert values(taken, RX_BYTES)["capture", "eth0"] == 500.0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    st.binary(max_size=80)
    | st.sampled_from([STATISTICS, SETTINGS, FEC, MODULE]).map(lambda text: text[:40].encode())
)
def test_any_file_beside_a_good_one_loses_nothing(tmp_path: Path, content: bytes) -> None:
    root = folder(tmp_path / "x", good=MODULE)
    (root / "other").write_bytes(content)
    found = values(read(root), TEMPERATURE)
    assert list(found.values()) == [41.5]


FILES = st.dictionaries(
    st.sampled_from(
        [
            "class/infiniband/mlx5_0/node_guid",
            *(f"class/infiniband/mlx5_0/ports/1/{name}"
              for name in ("state", "phys_state", "rate", "link_layer", "counters/port_rcv_data",
                           "counters/port_xmit_wait", "counters/symbol_error",
                           "hw_counters/out_of_sequence", "hw_counters/rx_dct_connect")),
            *(f"class/net/eth0/{name}"
              for name in ("operstate", "flags", "carrier", "speed", "type", "address",
                           "statistics/rx_bytes", "device/uevent", "carrier_down_count")),
            "proc/stat",
        ]
    ),
    st.text(max_size=20)
    | st.integers(-5, 2**65).map(str)
    | st.sampled_from(["4: ACTIVE", "5: LinkUp", "400 Gb/sec (4X NDR)", "up", "0x1003"]),
    min_size=1,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(FILES, st.sets(st.sampled_from(["EINVAL", "EPERM", "EIO", "ENODEV", "nonsense"])))
def test_any_tree_is_read_or_is_none_at_all(
    tmp_path: Path, files: dict[str, str], errors: set[str]
) -> None:
    broken = dict(zip(files, errors, strict=False))
    (tmp_path / "tree.json").write_text(json.dumps({"files": files, "read_errors": broken}))
    poll, _ = read(tmp_path / "tree.json")
    for batch in poll.batches:
        assert np.isfinite(batch.values).all()
        assert len(np.unique(batch.series)) == len(batch)


def test_in_a_folder_each_failure_is_booked_on_the_port_of_its_file(tmp_path: Path) -> None:
    for port in ("eth0", "eth1"):
        (tmp_path / f"ethtool-m-{port}").write_text(MODULE)
    (tmp_path / "ethtool-m-eth4").write_text("")
    (tmp_path / "ethtool-m-eth4.stderr").write_text("netlink error: Input/output error\n")
    poll, _ = read(tmp_path)
    assert [one.labels["port"] for one in poll.refused] == ["eth4"]
