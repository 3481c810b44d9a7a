"""mlxlink's two forms, and what its words mean."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import mlxlink
from collectors.protocols.mlxlink import fec_name
from collectors.source import Target
from collectors.sources.mlxlink import Mlxlink, MlxlinkSettings
from fabrichealth.catalogue.optics import (
    LOS,
    OPTICS_INFO,
    RX_POWER,
    TEMPERATURE,
    THRESHOLD,
    TX_BIAS,
)
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    LANE_ERRORS,
    LANE_PRE_FEC_BER,
    LANES,
    LINK_DOWNS,
    POST_FEC_BER,
    PRE_FEC_BER,
    SPEED,
    SYMBOL_ERROR_RATIO,
    SYMBOL_ERRORS,
    UP,
)
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from tests.fixtures import readings

AT = 1_800_000_000.0
SAID: dict[str, dict[str, Any]] = {
    "Operational Info": {
        "State": "Active",
        "Physical state": "LinkUp",
        "Speed": "IB-NDR",
        "Width": "4x",
        "FEC": "Interleaved RS-FEC - (544,514) + PLR",
    },
    "Physical Counters and BER Info": {
        "Symbol Errors": "3",
        "Symbol BER": "15E-255",
        "Effective Physical BER": "1.5E-254",
        "Raw Physical Errors Per Lane": ["10", "20", "N/A", "40"],
        "Raw Physical BER": "3E-9",
        "Raw Physical BER Per Lane": ["1E-9", "15E-255", "5E-9", "6E-9"],
        "Link Down Counter": "2",
        "Link Error Recovery Counter": "many",
    },
    "Histogram of FEC Errors": {
        "Header": ["Range", "Occurrences"],
        "Bin 0": ["[0]", "1000"],
        "Bin 1": ["[1:1]", "7"],
        "Bin 2": ["[2:3]", "1"],
    },
    "Module Info": {
        "Cable Type": "Optical Module (separated)",
        "Vendor Name": "ACME",
        "Vendor Part Number": "P-4",
        "Vendor Serial Number": "S-4",
        "FW Version": "1.10",
        "Temperature [C]": "61 [-10..80]",
        "Bias Current [mA]": "8.1,8.2 [2..15]",
        "Rx Power Current [dBm]": "1.0,-40 [-10..5]",
        "Rx LOS [per lane]": "0,1",
    },
}


def as_json(said: dict[str, dict[str, Any]], code: int = 0, message: str = "success") -> str:
    output = {
        section: {key: {"values": v} if isinstance(v, list) else v for key, v in pairs.items()}
        for section, pairs in said.items()
    }
    status = {"code": code, "message": message}
    return json.dumps({"status": status, "result": {"output": output}})


def as_text(said: dict[str, dict[str, Any]]) -> str:
    lines = []
    for section, pairs in said.items():
        lines += ["", section, "-" * len(section)]
        for key, value in pairs.items():
            joined = ",".join if "Per Lane" in key else "   ".join
            lines.append(f"{key:32}: {joined(value) if isinstance(value, list) else value}")
    return "\n".join(lines)


def look(folder: Path, text: str) -> tuple[Poll, SeriesTable]:
    file = folder / "port.txt"
    file.write_text(text)
    table = SeriesTable()
    source = Mlxlink(MlxlinkSettings(), Target("host-001", "mlxlink"), table)
    return source.captured([file], AT), table


@pytest.mark.parametrize("text", [as_json(SAID), as_text(SAID)], ids=["JSON", "text"])
def test_both_forms_say_the_same(tmp_path: Path, text: str) -> None:
    poll, table = look(tmp_path, text)
    port = ("host-001", "1")
    expected = {UP: 1, SPEED: 400e9, LANES: 4, SYMBOL_ERRORS: 3, LINK_DOWNS: 2, PRE_FEC_BER: 3e-9}
    assert {metric: readings(poll, table, metric)[port] for metric in expected} == expected
    lanes = readings(poll, table, LANE_ERRORS)
    assert lanes == {(*port, "1"): 10, (*port, "2"): 20, (*port, "4"): 40}
    assert set(readings(poll, table, LANE_PRE_FEC_BER)) == {(*port, n) for n in "134"}
    assert readings(poll, table, FEC_CODEWORDS) == {(*port, "0"): 1000, (*port, "1"): 7}
    assert readings(poll, table, TEMPERATURE) == {port: 61.0}
    assert readings(poll, table, TX_BIAS)[*port, "2"] == pytest.approx(0.0082)
    assert readings(poll, table, RX_POWER)[*port, "1"] == pytest.approx(1.0)
    assert readings(poll, table, RX_POWER)[*port, "2"] == -40.0
    assert readings(poll, table, LOS) == {(*port, "1", "media"): 0, (*port, "2", "media"): 1}
    assert readings(poll, table, THRESHOLD)[*port, "temperature", "high", "alarm"] == 80.0
    assert ("host-001", "1", "ACME", "P-4", "S-4", "", "1.10", "", "", "pluggable") in readings(
        poll, table, OPTICS_INFO
    )


def test_nothing_measured_is_neither_zero_nor_a_ratio(tmp_path: Path) -> None:
    poll, table = look(tmp_path, as_json(SAID))
    assert readings(poll, table, SYMBOL_ERROR_RATIO) == {}
    assert readings(poll, table, POST_FEC_BER) == {}
    assert [(refused.reason, refused.raw) for refused in poll.refused] == [
        (Reason.UNSUPPORTED, "15E-255"),
        (Reason.UNSUPPORTED, "1.5E-254"),
        (Reason.MALFORMED, "many"),
    ]


def test_a_port_that_is_down_has_no_speed(tmp_path: Path) -> None:
    said = {"Operational Info": {"State": "Polling", "Physical state": "Polling", "Speed": "N/A"}}
    poll, table = look(tmp_path, as_text({**said}))
    assert readings(poll, table, UP) == {("host-001", "1"): 0.0}
    assert readings(poll, table, SPEED) == {}


def test_useful_output_beside_an_error_is_used(tmp_path: Path) -> None:
    message = "FEC Histogram is not supported for the current device"
    poll, table = look(tmp_path, as_json(SAID, 1, message))
    assert readings(poll, table, LINK_DOWNS) == {("host-001", "1"): 2.0}
    assert (Reason.UNSUPPORTED, message) in [(one.reason, one.raw) for one in poll.refused]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("RS-FEC - (544,514) + PLR", "rs544"),
        ("Interleaved RS-FEC - (544,514)", "rs544i"),
        ("Standard RS-FEC - (528,514)", "rs528"),
        ("Firecode FEC", "firecode"),
        ("No FEC", "none"),
        ("Zero Latency FEC - (271,257)", "ll271"),
        ("N/A", ""),
    ],
)
def test_fec_has_the_topologys_names(words: str, name: str) -> None:
    assert fec_name(words) == name


@given(
    st.recursive(
        st.none() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
        lambda one: (
            st.lists(one, max_size=3)
            | st.dictionaries(
                st.sampled_from([*(k for s in SAID.values() for k in s), "values", "x"]), one
            )
        ),
    ),
    st.text(st.sampled_from("0123456789.,:[]-EeN/A \nBin") | st.characters(), max_size=200),
)
def test_any_reply_is_read_or_malformed(plain: object, text: str) -> None:
    for reply in (
        json.dumps({"status": {"code": 0}, "result": {"output": plain}}),
        json.dumps({"result": {"output": {"a": plain}}}),
        "State : Active\n" + text,
        "{" + text,
    ):
        try:
            mlxlink.link(reply)
        except MalformedReply:
            continue


HOST = {
    "class/infiniband/mlx5_0/node_guid": "cc00:0000:0000:0002\n",
    "class/infiniband/mlx5_0/device/uevent": "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:3b:00.0\n",
    "class/infiniband/mlx5_0/ports/1/link_layer": "InfiniBand\n",
    "class/infiniband/bnxt_0/device/uevent": "DRIVER=bnxt_en\nPCI_SLOT_NAME=0000:5e:00.0\n",
    "class/infiniband/bnxt_0/ports/1/link_layer": "Ethernet\n",
}


async def test_the_ports_of_this_host_are_asked_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, content in HOST.items():
        file = tmp_path / "sys" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    (tmp_path / "reply").write_text(as_json(SAID))
    tool = tmp_path / "mlxlink"
    tool.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncat {tmp_path}/reply\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    target = Target("host-001", "mlxlink", options={"root": str(tmp_path)})
    source = Mlxlink(MlxlinkSettings(), target, SeriesTable())
    poll = await source.read(AT)
    assert readings(poll, source.table, UP) == {("host-001", "mlx5_0/1"): 1.0}
    (tmp_path / "reply").write_text("-E- Failed to open device\n")
    with pytest.raises(SourceUnavailable, match="host-001: Failed to open device"):
        await source.read(AT + 60)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == ["-d mlx5_0 -p 1 -c -m --json --rx_fec_histogram --show_histogram"] * 2


async def test_a_host_without_such_ports_says_so(tmp_path: Path) -> None:
    target = Target("host-001", "mlxlink", options={"root": str(tmp_path)})
    with pytest.raises(SourceUnavailable, match="host-001: no NVIDIA network port"):
        await Mlxlink(MlxlinkSettings(), target, SeriesTable()).read(AT)
