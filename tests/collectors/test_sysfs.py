"""sysfs: small files, and trees whose root may be anywhere."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import sysfs, sysfs_infiniband, sysfs_net
from collectors.protocols.sysfs_infiniband import Rate
from collectors.transports.tree import FolderTree, MapTree, Tree, map_tree
from emulator.hosttree import HostTree, nics
from fabrichealth.errors import MalformedReply

DECODERS = (
    sysfs.count,
    sysfs.word,
    sysfs.uevent,
    sysfs.boot_time,
    sysfs_infiniband.state,
    sysfs_infiniband.rate,
    sysfs_infiniband.guid,
    sysfs_infiniband.is_ethernet,
    sysfs_net.up,
    sysfs_net.flags,
    sysfs_net.speed,
)


@pytest.mark.parametrize("decode", DECODERS)
@given(raw=st.binary(max_size=60) | st.integers().map(lambda number: f"{number}\n".encode()))
def test_any_bytes_give_a_value_or_a_malformed_reply(decode: object, raw: bytes) -> None:
    assert callable(decode)
    with suppress(MalformedReply):
        decode(raw)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"0\n", 0),
        (b"18446744073709551615\n", 2**64 - 1),
        (b"N/A (no PMA)\n", None),
        (b"-1\n", None),
        (b"\n", None),
    ],
)
def test_a_counter_is_a_number_or_is_not_there(raw: bytes, value: int | None) -> None:
    assert sysfs.count(raw) == value


@pytest.mark.parametrize(
    ("raw", "rate"),
    [
        (b"400 Gb/sec (4X NDR)\n", Rate(4e11, 4)),
        (b"2.5 Gb/sec (1X SDR)\n", Rate(2.5e9, 1)),
        (b"40 Gb/sec (4X)\n", Rate(4e10, 4)),
    ],
)
def test_a_rate_is_in_bit_per_second(raw: bytes, rate: Rate) -> None:
    assert sysfs_infiniband.rate(raw) == rate


def test_an_unknown_speed_is_absent() -> None:
    assert sysfs_net.speed(b"-1\n") is None
    assert sysfs_net.speed(b"4294967295\n") is None
    assert sysfs_net.speed(b"100000\n") == 1e11


@pytest.mark.parametrize("root", ["", "sys", "sys/class", "sys/class/infiniband"])
def test_the_root_of_a_tree_may_be_anywhere(tmp_path: Path, root: str) -> None:
    HostTree(tmp_path, nics(2, ethernet=True), boot=1e9).update()
    tree = FolderTree(tmp_path / root)
    found = sysfs.places(tree)
    assert list(found.infiniband) == ["mlx5_0", "mlx5_1"]
    for path in found.infiniband.values():
        assert tree.read(f"{path}/ports/1/state") == b"4: ACTIVE\n"
    assert bool(found.proc) is (root == "")
    assert list(found.net) == ([] if root.endswith("infiniband") else ["eth0", "eth1"])


def test_one_device_is_a_tree_too(tmp_path: Path) -> None:
    HostTree(tmp_path, nics(1, ethernet=True), boot=1e9).update()
    rdma = FolderTree(tmp_path / "sys/class/infiniband/mlx5_0")
    net = FolderTree(tmp_path / "sys/class/net/eth0")
    assert dict(sysfs.places(rdma).infiniband) == {"mlx5_0": "."}
    assert dict(sysfs.places(net).net) == {"eth0": "."}
    assert net.read("./operstate") == b"up\n"


@pytest.mark.parametrize("prefix", ["/sys/class/", "sys/class/", "class/", "./class/", ""])
def test_a_json_map_is_a_tree_whatever_its_paths_begin_with(prefix: str) -> None:
    tree: Tree | None = map_tree({f"{prefix}infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n"})
    assert tree is not None
    (path,) = sysfs.places(tree).infiniband.values()
    assert tree.read(f"{path}/ports/1/state") == b"4: ACTIVE\n"


def test_a_read_error_of_a_map_is_the_errno_it_names() -> None:
    tree = MapTree({}, {"class/net/eth0/speed": "EINVAL", "class/net/eth0/x": "no such errno"})
    with pytest.raises(OSError, match="Invalid argument"):
        tree.read("class/net/eth0/speed")
    with pytest.raises(OSError, match="Input/output error"):
        tree.read("class/net/eth0/x")
    with pytest.raises(FileNotFoundError):
        tree.read("class/net/eth0/mtu")


@pytest.mark.parametrize("plain", [[], "text", {}, {"a": "b"}, {"a/b": 1}])
def test_other_json_is_no_tree(plain: object) -> None:
    assert map_tree(plain) is None


def test_a_map_whose_files_are_no_map_is_malformed() -> None:
    with pytest.raises(MalformedReply, match="files"):
        map_tree({"files": ["a"]}, "capture")


def test_a_representor_is_not_a_port_of_its_own() -> None:
    assert sysfs_net.is_representor("pf0vf3")
    assert sysfs_net.is_representor("c1pf0sf12")
    assert not sysfs_net.is_representor("p0")
