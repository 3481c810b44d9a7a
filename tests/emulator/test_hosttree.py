"""An emulated host's files: whole at any moment, brought up to date, taken away."""

from pathlib import Path

from emulator.hosttree import HostTree, nics


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_a_roce_card_has_two_faces_and_an_infiniband_card_one(tmp_path: Path) -> None:
    for ethernet in (True, False):
        root = tmp_path / str(ethernet)
        HostTree(root, nics(1, ethernet=ethernet), boot=0.0).update()
        assert (root / "sys/class/net/eth0/statistics/rx_bytes").exists() is ethernet
        layer = (root / "sys/class/infiniband/mlx5_0/ports/1/link_layer").read_text()
        assert layer == ("Ethernet\n" if ethernet else "InfiniBand\n")


def test_what_a_card_carries_is_in_words_on_one_face_and_bytes_on_the_other(tmp_path: Path) -> None:
    tree = HostTree(tmp_path, nics(1, ethernet=True), boot=0.0)
    for _ in range(2):
        tree.nics[0].carry(received=8192, sent=4096)
        tree.update()
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1/counters"
    assert (port / "port_rcv_data").read_text() == "4096\n"
    assert (port / "port_xmit_packets").read_text() == "2\n"
    assert (tmp_path / "sys/class/net/eth0/statistics/rx_bytes").read_text() == "16384\n"


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    tree = HostTree(tmp_path, nics(1, ethernet=True), boot=0.0)
    tree.update()
    still = tmp_path / "sys/class/net/eth0/statistics/tx_bytes"
    before = still.stat().st_ino
    tree.nics[0].statistics["rx_bytes"] = 5
    tree.update()
    assert still.stat().st_ino == before
    assert not [name for name in files(tmp_path) if name.endswith(".new")]


def test_a_card_taken_out_leaves_nothing_behind(tmp_path: Path) -> None:
    tree = HostTree(tmp_path, nics(2, ethernet=True), boot=0.0)
    tree.update()
    tree.nics.pop()
    tree.update()
    assert sorted(path.name for path in (tmp_path / "sys/class/infiniband").iterdir()) == ["mlx5_0"]
    assert sorted(path.name for path in (tmp_path / "sys/class/net").iterdir()) == ["eth0"]


def test_a_port_without_a_link_shows_what_the_kernel_shows(tmp_path: Path) -> None:
    tree = HostTree(tmp_path, nics(1, ethernet=True), boot=0.0)
    tree.nics[0].up = False
    tree.update()
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    assert (port / "state").read_text() == "1: DOWN\n"
    assert (port / "phys_state").read_text() == "2: Polling\n"
    assert (tmp_path / "sys/class/net/eth0/operstate").read_text() == "down\n"
