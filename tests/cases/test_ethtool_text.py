"""Cases of ethtool's text that once broke tools: clashing names, and light that is not there."""

from pathlib import Path

import pytest

from collectors.source import Target
from collectors.sources.host import Host, HostSettings
from fabrichealth.catalogue.congestion import PFC_RX_FRAMES, PFC_RX_PAUSE
from fabrichealth.catalogue.optics import LOS, RX_POWER, SUPPLY, TEMPERATURE, TX_POWER
from fabrichealth.catalogue.ports import RX_DISCARDS
from fabrichealth.metric import Metric
from fabrichealth.model import Labels, Poll, Reason, SeriesTable
from tests.fixtures import readings

ODD_NAMES = """\
NIC statistics:
     Rx Ring#: 0
       frames in: 61
       long frame: 3
       long frame: 4
     Rx Ring#: 1
       frames in: 72
       long frame: 0
       long frame: 9
     Ring[4] no_buffer: 2
     port.rx_dropped: 4410
     port-rx-dropped: 6
     rx_priority_5_xoff.nic: 808
     rx wait count: 1
     [7]: rx_lost: 3
"""
TELLING = "\tOptical diagnostics support               : Yes\n"
SFP = f"\tIdentifier                                : 0x03 (SFP)\n{TELLING}"


def read(tmp_path: Path, text: str, stderr: str = "") -> tuple[Poll, SeriesTable]:
    file = tmp_path / "eth0"
    file.write_text(text)
    if stderr:
        (tmp_path / "eth0.stderr").write_text(stderr)
    table = SeriesTable()
    source = Host(HostSettings(), Target("node-7", "host", options={"port": "eth0"}), table)
    return source.captured([file], 0.0), table


def of(taken: tuple[Poll, SeriesTable], metric: Metric) -> dict[Labels, float]:
    """Return one metric by labels after device and port."""
    return {labels[2:]: value for labels, value in readings(*taken, metric).items()}


def test_names_that_would_clash_once_cleaned_stay_apart(tmp_path: Path) -> None:
    taken = read(tmp_path, ODD_NAMES)
    assert of(taken, RX_DISCARDS) == {(): 4410.0}
    assert of(taken, PFC_RX_FRAMES) == {("5",): 808.0}
    twice = [one.what for one in taken[0].refused if one.reason is Reason.DUPLICATE]
    assert twice == ["Rx Ring#: 0 / long frame", "Rx Ring#: 1 / long frame"]
    (batch,) = taken[0].batches
    assert len(set(batch.series.tolist())) == len(batch)


def test_pause_frames_and_pause_time_are_not_each_other(tmp_path: Path) -> None:
    text = "NIC statistics:\n  rx_prio2_pause: 31\n  rx_prio2_pause_duration: 450000\n"
    taken = read(tmp_path, text)
    assert of(taken, PFC_RX_FRAMES) == {("2",): 31.0}
    assert of(taken, PFC_RX_PAUSE) == {("2",): pytest.approx(0.45)}


@pytest.mark.parametrize(
    "power", ["0.0000 mW / -inf dBm", "0.0001 mW / -40.00 dBm"], ids=["no light", "the floor"]
)
def test_no_light_is_the_floor_and_a_loss_of_signal(tmp_path: Path, power: str) -> None:
    taken = read(
        tmp_path,
        f"{SFP}\tReceiver signal average optical power     : {power}\n"
        "\tLaser output power                        : 1.1220 mW / 0.50 dBm\n"
        "\tModule temperature                        : -7.25 degrees C / 18.95 degrees F\n"
        "\tModule voltage                            : 3.3000 V\n",
    )
    assert of(taken, RX_POWER) == {("1",): -40.0}
    assert of(taken, LOS) == {("1", "media"): 1.0}
    assert of(taken, TX_POWER) == {("1",): pytest.approx(0.5)}
    assert of(taken, TEMPERATURE) == {(): -7.25}
    assert of(taken, SUPPLY) == {(): 3.3}


def test_one_dark_lane_is_dark_alone(tmp_path: Path) -> None:
    lanes = ("0.6310 mW / -2.00 dBm", "0.0000 mW / -inf dBm", "0.5012 mW / -3.00 dBm")
    lines = [f"\tRcvr signal avg optical power(Channel {lane})  : {power}\n"
             for lane, power in enumerate(lanes, 1)]  # fmt: skip
    taken = read(tmp_path, f"\tIdentifier : 0x11 (QSFP28)\n{TELLING}{''.join(lines)}")
    assert list(of(taken, RX_POWER).values()) == pytest.approx([-2.0, -40.0, -3.0])
    assert list(of(taken, LOS).values()) == [0.0, 1.0, 0.0]


def test_a_module_without_diagnostics_has_no_optical_samples(tmp_path: Path) -> None:
    taken = read(
        tmp_path,
        "\tIdentifier : 0x03 (SFP)\n\tOptical diagnostics support : No\n"
        "\tConnector : 0x21 (Copper pigtail)\n",
    )
    for metric in (RX_POWER, TX_POWER, LOS, TEMPERATURE, SUPPLY):
        assert of(taken, metric) == {}
    assert taken[0].refused == []


def test_module_memory_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    poll, _ = read(tmp_path, "", "netlink error: Operation not supported\n")
    assert poll.readings == 0
    assert [one.reason for one in poll.refused] == [Reason.UNSUPPORTED]
