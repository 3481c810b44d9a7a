"""hccn_tool's outputs, one call or many behind each other."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import hccn, lldp_tlvs
from collectors.source import Target
from collectors.sources.hccn import Hccn, HccnSettings
from fabrichealth.catalogue.congestion import CNP_TX_PACKETS, PFC_RX_FRAMES
from fabrichealth.catalogue.optics import LOS, RX_POWER, SNR, TEMPERATURE
from fabrichealth.catalogue.ports import (
    LINK_DOWNS,
    NETWORK_HEALTHY,
    PORT_INFO,
    RX_BYTES_PER_SECOND,
    RX_CRC_ERRORS,
    SPEED,
    UP,
)
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from fabrichealth.topology import Topology
from tests.fixtures import readings

AT = 1_800_000_000.0
PORT = ("host-001-3", "roce/0")

OPTICAL = """\
optical info:
present              : {present}
temperature          : 47 C
Vcc                  : 3262.90 mV
Rx Power0            : 1.0000 mW
Rx Power1            : 0.0000 mW
Tx Bias0             : 7.9360 mA
Rx Los Flag          : 0xf2
Host SNR Lane0       : not supported
Media SNR Lane1      : 22.5 dB
"""

ALL = f"""\
a remark before the first call: ignored
/usr/local/Ascend/driver/tools/hccn_tool -i 3 -link -g
link status: UP

/usr/local/Ascend/driver/tools/hccn_tool -i 3 -speed -g
Speed: 200000 Mb/s
/usr/local/Ascend/driver/tools/hccn_tool -i 3 -link_stat -g
[device 3]current time        : Fri Jan 15 08:00:00 2027
[device 3]link up count       : 5
[device 3]link change records :
[device 3]    Fri Jan 15 07:00:00 2027    LINK UP
/usr/local/Ascend/driver/tools/hccn_tool -i 3 -stat -g
packet statistics:
mac_rx_fcs_err_pkt_num:7
mac_rx_pfc_pri3_pkt_num:11
roce_tx_cnp_pkt_num:13
mac_rx_odd_num:many
/usr/local/bin/npu-smi info -i 3 -t board
        Temperature                    : 90
/usr/local/Ascend/driver/tools/hccn_tool -i 3 -fec -g
fec mode: rs FEC mode
/usr/local/Ascend/driver/tools/hccn_tool -i 3 -net_health -g
net health status: Success
/usr/local/Ascend/driver/tools/hccn_tool -i 3 -bandwidth -g
Bandwidth RX: 12.50 MB/sec
/usr/local/Ascend/driver/tools/hccn_tool -i 3 -optical -g
{OPTICAL.format(present="present")}"""


def look(folder: Path, text: str) -> tuple[Poll, SeriesTable]:
    file = folder / "host-001.txt"
    file.write_text(text)
    source = Hccn(HccnSettings(), Target("host-001", "hccn"), SeriesTable())
    return source.captured([file], AT), source.table


def test_every_question_is_read_under_its_npu(tmp_path: Path) -> None:
    poll, table = look(tmp_path, ALL)
    expected = {
        UP: 1, SPEED: 200e9, LINK_DOWNS: 5, RX_CRC_ERRORS: 7, CNP_TX_PACKETS: 13,
        NETWORK_HEALTHY: 1, RX_BYTES_PER_SECOND: 12.5e6, TEMPERATURE: 47,
    }  # fmt: skip
    assert {metric: readings(poll, table, metric) for metric in expected} == {
        metric: {PORT: value} for metric, value in expected.items()
    }
    assert readings(poll, table, PFC_RX_FRAMES) == {(*PORT, "3"): 11}
    (info,) = readings(poll, table, PORT_INFO)
    assert "rs544" in info


def test_a_mask_has_a_bit_for_each_lane_that_is_there(tmp_path: Path) -> None:
    poll, table = look(tmp_path, ALL)
    assert readings(poll, table, RX_POWER) == {(*PORT, "1"): 0.0, (*PORT, "2"): -40.0}
    assert readings(poll, table, LOS) == {(*PORT, "1", "media"): 0, (*PORT, "2", "media"): 1}
    assert readings(poll, table, SNR) == {(*PORT, "2", "media"): 22.5}
    assert {refused.what: refused.reason for refused in poll.refused} == {
        "host snr lane0": Reason.UNSUPPORTED,
        "mac_rx_odd_num": Reason.MALFORMED,
    }


@pytest.mark.parametrize(
    ("text", "lit"),
    [
        pytest.param(OPTICAL.format(present="not present"), True, id="measured all the same"),
        pytest.param("present : not present\ntemperature : 0 C\n", False, id="empty cage"),
    ],
)
def test_a_module_that_is_measured_is_there(tmp_path: Path, text: str, lit: bool) -> None:
    poll, table = look(
        tmp_path, f"hccn_tool -i 3 -optical -g\n{text}hccn_tool -i 3 -link -g\nlink status: DOWN\n"
    )
    assert (readings(poll, table, TEMPERATURE) == {PORT: 47.0}) is lit
    assert (Reason.IMPLAUSIBLE in [refused.reason for refused in poll.refused]) is lit
    assert readings(poll, table, UP) == {PORT: 0.0}


@pytest.mark.parametrize(
    ("words", "value", "refused"),
    [
        ("Success", [1.0], 0),
        ("Receive timeout", [0.0], 0),
        ("Init", [], 1),
        ("Socket failed", [], 1),
    ],
)
def test_a_check_that_was_not_made_is_no_verdict(
    tmp_path: Path, words: str, value: list[float], refused: int
) -> None:
    poll, table = look(tmp_path, f"net health status: {words}\nfec mode: no FEC mode\n")
    assert list(readings(poll, table, NETWORK_HEALTHY).values()) == value
    assert len(poll.refused) == refused


LISTED = """\
/usr/local/Ascend/driver/tools/hccn_tool -g -dev_info -i 0
| UdieID | PortID | Speed  | PortType | LinkStatus  | MediaType  |
| 0      | 4      | 200    | ETH      | DOWN        | Electrical |
| 1      | 9      | 400    | UB       | UP          | Optical    |
hccn_tool -i 0 -u 1 -p 9 -stat -g
mac_rx_fcs_err_pkt_num:1
"""


def test_newer_devices_list_their_ports(tmp_path: Path) -> None:
    poll, table = look(tmp_path, LISTED)
    down, up = ("host-001-0", "roce/0/4"), ("host-001-0", "ub/1/9")
    assert readings(poll, table, UP) == {down: 0, up: 1}
    assert readings(poll, table, SPEED) == {up: 400e9}
    assert readings(poll, table, RX_CRC_ERRORS) == {up: 1}


@given(st.data(), st.sampled_from([ALL, LISTED]))
def test_any_text_is_read_or_passed_over(data: st.DataObject, text: str) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 200, len(text))))
    for answer in hccn.answers(text[:start] + data.draw(st.text(max_size=30)) + text[end:]):
        assert answer.says_something


async def test_each_npu_is_asked_each_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dev").mkdir()
    for name in ("davinci0", "davinci10", "davinci_manager"):
        (tmp_path / "dev" / name).touch()
    tool = tmp_path / "hccn_tool"
    tool.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n'
        'case "$*" in *-link\\ -g) echo "link status: UP";; *) echo "not support"; exit 1;; esac\n'
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    target = Target("host-001", "hccn", options={"root": str(tmp_path)}, topology=Topology())
    source = Hccn(HccnSettings(), target, SeriesTable())
    poll = await source.read(AT)
    assert set(readings(poll, source.table, UP)) == {
        ("host-001-0", "roce/0"), ("host-001-10", "roce/0"),
    }  # fmt: skip
    assert {refused.reason for refused in poll.refused} == {Reason.UNSUPPORTED}
    asked = len((tmp_path / "asked").read_text().splitlines())
    again = await source.read(AT + 60)
    assert again.readings == 2
    assert len((tmp_path / "asked").read_text().splitlines()) == asked + 2  # the rest was learnt


async def test_a_host_without_npus_says_so(tmp_path: Path) -> None:
    target = Target("host-001", "hccn", options={"root": str(tmp_path)})
    with pytest.raises(SourceUnavailable, match="host-001: no NPU on this host"):
        await Hccn(HccnSettings(), target, SeriesTable()).read(AT)


FACING = """\
hccn_tool -i 3 -lldp -g
Chassis ID TLV
\tMAC: 02:00:5e:00:00:01
Port ID TLV
\t{kind}: {port}
Time to Live TLV
\t120
System Name TLV
\tleaf-01
"""


@pytest.mark.parametrize(
    ("kind", "port", "far"),
    [
        ("Ifname", "400GE1/0/3", "400GE1/0/3"),
        ("MAC", "02:00:5e:00:00:09", ""),
        ("Local", "7", "7"),
    ],
)
def test_what_an_npu_hears_by_lldp_is_its_neighbor(
    tmp_path: Path, kind: str, port: str, far: str
) -> None:
    file = tmp_path / "lldp.txt"
    file.write_text(FACING.format(kind=kind, port=port))
    source = Hccn(HccnSettings(), Target("host-001", "hccn"), SeriesTable())
    poll = source.captured([file], AT)
    assert poll.neighbors == [Neighbor("host-001-3", "roce/0", "leaf-01", far, "lldp")]
    assert poll.refused == []


@given(
    lines=st.lists(
        st.sampled_from(["Port ID TLV", "System Name TLV", "\tMAC: x", "\t", "\tIfname:", "x TLV"])
        | st.text(max_size=20)
    )
)
def test_any_lines_are_tlvs_or_none(lines: list[str]) -> None:
    found = lldp_tlvs.facing(lines)
    assert found is None or found.system or found.chassis
