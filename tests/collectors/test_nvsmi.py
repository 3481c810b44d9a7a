"""nvidia-smi's outputs, old schemas and new, and the tool run."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import nvidia_smi
from collectors.source import Target
from collectors.sources.nvsmi import Nvsmi, NvsmiSettings
from fabrichealth.catalogue.accelerators import (
    ACCELERATOR_INFO,
    HEALTHY,
    MEMORY_USED,
    POWER,
    TEMPERATURE,
    THROTTLED,
    UTILIZATION,
)
from fabrichealth.catalogue.ports import (
    FEC_CODEWORDS,
    LANES,
    MAX_LANES,
    NETWORK_HEALTHY,
    POST_FEC_BER,
    REPLAYS,
    RX_CRC_ERRORS,
    RX_ERRORS,
    SPEED,
    SYMBOL_ERROR_RATIO,
    UP,
)
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.topology import Topology
from fabrichealth.topology.rows import Device
from tests.fixtures import readings

AT = 1_800_000_000.0


def gpu(bus: str = "9B", power: str = "gpu_power_readings", fabric: str = "Completed") -> str:
    """Return one accelerator as the XML has it."""
    return f"""
    <gpu id="00000000:{bus}:00.0">
      <product_name>Big One</product_name><uuid>GPU-{bus}</uuid>
      <pci><pci_bus_id>00000000:{bus}:00.0</pci_bus_id><replay_counter>7</replay_counter>
        <pci_gpu_link_info><link_widths><max_link_width>16x</max_link_width>
          <current_link_width>8x</current_link_width></link_widths></pci_gpu_link_info></pci>
      <clocks_event_reasons>
        <clocks_event_reason_hw_thermal_slowdown>Active</clocks_event_reason_hw_thermal_slowdown>
        <clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>
      </clocks_event_reasons>
      <fb_memory_usage><total>81920 MiB</total><used>1024 MiB</used></fb_memory_usage>
      <utilization><gpu_util>[Unknown Error]</gpu_util></utilization>
      <temperature><gpu_temp>hot</gpu_temp><memory_temp>N/A</memory_temp></temperature>
      <{power}><power_draw>55.10 W</power_draw></{power}>
      <gpu_reset_status><reset_required>No</reset_required></gpu_reset_status>
      <fabric><state>{fabric}</state><status>Success</status></fabric>
    </gpu>"""


def xml(*gpus: str, attached: int | None = None) -> str:
    return (
        '<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n'
        "<nvidia_smi_log><timestamp>Fri Jan 15 08:00:00 2027</timestamp>"
        f"<driver_version>570.1</driver_version>"
        f"<attached_gpus>{attached or len(gpus)}</attached_gpus>{''.join(gpus)}</nvidia_smi_log>"
    )


def look(folder: Path, *texts: str, topology: Topology | None = None) -> tuple[Poll, SeriesTable]:
    for number, text in enumerate(texts):
        (folder / f"reply{number}").write_text(text)
    target = Target("host-001", "nvsmi", topology=topology or Topology())
    source = Nvsmi(NvsmiSettings(), target, SeriesTable())
    return source.captured([folder], AT), source.table


@pytest.mark.parametrize("power", ["gpu_power_readings", "power_readings"])
def test_an_accelerator_tells_in_si_wherever_its_schema_puts_it(tmp_path: Path, power: str) -> None:
    poll, table = look(tmp_path, xml(gpu(power=power)))
    assert readings(poll, table, POWER) == {("host-001-0",): 55.1}
    assert readings(poll, table, MEMORY_USED) == {("host-001-0",): 2.0**30}
    assert readings(poll, table, THROTTLED) == {("host-001-0", "hw_thermal"): 1.0}
    assert readings(poll, table, HEALTHY) == {("host-001-0",): 1.0}
    port = ("host-001-0", "pcie/0000:9b:00.0")
    found = {metric: readings(poll, table, metric) for metric in (REPLAYS, LANES, MAX_LANES)}
    assert found == {REPLAYS: {port: 7}, LANES: {port: 8}, MAX_LANES: {port: 16}}
    assert readings(poll, table, ACCELERATOR_INFO) == {
        ("host-001-0", "Big One", "host-001", "", "", "570.1"): 1.0
    }


def test_what_has_no_value_is_refused_with_its_reason(tmp_path: Path) -> None:
    poll, table = look(tmp_path, xml(gpu()))
    assert readings(poll, table, UTILIZATION) == readings(poll, table, TEMPERATURE) == {}
    assert {refused.raw: refused.reason for refused in poll.refused} == {
        "[Unknown Error]": Reason.UNSUPPORTED,
        "N/A": Reason.UNSUPPORTED,
        "hot": Reason.MALFORMED,
    }


@pytest.mark.parametrize(
    ("state", "value"),
    [("Completed", [1.0]), ("Failure", [0.0]), ("In Progress", []), ("N/A", [])],
)
def test_the_fabrics_state_is_a_verdict_once_it_is_settled(
    tmp_path: Path, state: str, value: list[float]
) -> None:
    poll, table = look(tmp_path, xml(gpu(fabric=state)))
    assert list(readings(poll, table, NETWORK_HEALTHY).values()) == value


def test_names_are_the_topologys_else_index_else_address(tmp_path: Path) -> None:
    known = Topology(
        [Device(name="gpu-7", role="accelerator", host="host-001", ids=("0000:c1:00.0",)),
         Device(name="gpu-8", role="accelerator", host="host-002", ids=("GPU-D1",))]
    )  # fmt: skip
    texts = xml(gpu("9B"), gpu("C1"), gpu("D1"))
    poll, table = look(tmp_path, texts, topology=known)
    assert set(readings(poll, table, POWER)) == {("host-001-0",), ("gpu-7",), ("gpu-8",)}
    poll, table = look(tmp_path, xml(gpu("9B"), attached=4))  # which of the four is not said
    assert set(readings(poll, table, POWER)) == {("host-001-0000:9b:00.0",)}


STATUS = """\
GPU 0: Big One (UUID: GPU-9B)
\t Link 0: 26.562 GB/s
\t Link 1: <inactive>
GPU 1: Big One (UUID: GPU-C1)
\t Link 0: 26.562 GB/s
"""
OLD_ERRORS = """\
GPU 0: Big One (UUID: GPU-9B)
\t Link 0: Replay Errors: 3
\t Link 0: Recovery Errors: 0
\t Link 0: CRC Errors: 12
"""
NEW_ERRORS = """\
GPU 0: Big One (UUID: GPU-9B)
\t Link 0: Rx Errors: 4
\t Link 0: Effective BER: 1.5e-254
\t Link 0: Symbol BER: 2e-12
\t Link 0: FEC Errors - 0: 1000
\t Link 0: FEC Errors - 15: 1
\t Link 0: Tx discards: N/A
"""


def test_links_are_up_or_inactive_with_their_rate_a_direction(tmp_path: Path) -> None:
    poll, table = look(tmp_path, STATUS)
    assert readings(poll, table, UP) == {
        ("host-001-0", "nvlink/0"): 1, ("host-001-0", "nvlink/1"): 0, ("host-001-1", "nvlink/0"): 1,
    }  # fmt: skip
    assert readings(poll, table, SPEED)["host-001-0", "nvlink/0"] == pytest.approx(212.496e9)


def test_errors_of_links_have_other_names_on_nvlink_5(tmp_path: Path) -> None:
    port = ("host-001-0", "nvlink/0")
    old, table = look(tmp_path, OLD_ERRORS)
    assert readings(old, table, REPLAYS) == {port: 3}
    assert readings(old, table, RX_CRC_ERRORS) == {port: 12}
    new, table = look(tmp_path, NEW_ERRORS)
    assert readings(new, table, RX_ERRORS) == {port: 4}
    assert readings(new, table, SYMBOL_ERROR_RATIO) == {port: 2e-12}
    assert readings(new, table, POST_FEC_BER) == {}
    assert readings(new, table, FEC_CODEWORDS) == {(*port, "0"): 1000, (*port, "15"): 1}
    assert [refused.reason for refused in new.refused] == [Reason.UNSUPPORTED]


def test_xml_that_grows_by_entities_is_not_expanded() -> None:
    bomb = (
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><nvidia_smi_log>&a;</nvidia_smi_log>'
    )
    with pytest.raises(MalformedReply, match="entities"):
        nvidia_smi.log(bomb)


@given(st.data(), st.sampled_from([xml(gpu()), STATUS, OLD_ERRORS, NEW_ERRORS]))
def test_any_text_is_read_or_malformed(data: st.DataObject, text: str) -> None:
    start = data.draw(st.integers(0, len(text)))
    text = (
        text[:start]
        + data.draw(st.text(max_size=20))
        + text[data.draw(st.integers(start, len(text))) :]
    )
    with suppress(MalformedReply):
        nvidia_smi.log(text)
    nvidia_smi.nvlinks(text)


async def test_the_tool_is_run_once_for_each_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xml").write_text(xml(gpu()))
    (tmp_path / "links").write_text(STATUS)
    tool = tmp_path / "nvidia-smi"
    tool.write_text(
        f'#!/bin/sh\ncase "$*" in "-q -x") cat {tmp_path}/xml;; "nvlink -s") cat {tmp_path}/links;;'
        " *) echo NVLink is not supported; exit 6;; esac\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    source = Nvsmi(NvsmiSettings(), Target("host-001", "nvsmi"), SeriesTable())
    poll = await source.read(AT)
    assert readings(poll, source.table, POWER) == {("host-001-0",): 55.1}
    assert readings(poll, source.table, UP)["host-001-0", "nvlink/1"] == 0.0
    (tmp_path / "xml").write_text("NVIDIA-SMI has failed because it could not talk to the driver.")
    with pytest.raises(SourceUnavailable, match=r"host-001: .*could not talk to the driver"):
        await source.read(AT)


REMOTE = """\
GPU 0: Big One (UUID: GPU-9B)
\t Link 0: Remote Device 00000000:C5:00.0: Link 12
\t Link 1: Remote Device 00000000:C4:00.0: Link 3
\t Link 2: Remote Device 00000000:9C:00.0: Link 2
\t Link 3: Remote Device FFFFFFFF:FF:FF.F: Link 0
GPU 1: Big One (UUID: GPU-9C)
\t Link 2: Remote Device 00000000:9B:00.0: Link 2
\t Link 4: 00000000:C4:00.0
"""


def facing(folder: Path, topology: Topology, *, xml: bool = True) -> set[tuple[str, ...]]:
    """Return device, port, far device and far port of what the links say."""
    files = [folder / "remote.txt"]
    files[0].write_text(REMOTE)
    if xml:
        files.append(folder / "query.xml")
        files[1].write_text(f"<nvidia_smi_log>{gpu('9B')}{gpu('9C')}</nvidia_smi_log>")
    target = Target("host-1", "nvsmi", topology=topology)
    poll = Nvsmi(NvsmiSettings(), target, SeriesTable()).captured(files, AT)
    assert {one.via for one in poll.neighbors} == {"nvlink"}
    return {(one.device, one.port, one.remote_device, one.remote_port) for one in poll.neighbors}


def test_links_lead_to_accelerators_and_nvswitches(tmp_path: Path) -> None:
    assert facing(tmp_path, Topology()) == {
        ("host-1-0", "nvlink/0", "host-1-nvswitch1", "nvlink/12"),
        ("host-1-0", "nvlink/1", "host-1-nvswitch0", "nvlink/3"),
        ("host-1-0", "nvlink/2", "host-1-1", "nvlink/2"),
        ("host-1-1", "nvlink/2", "host-1-0", "nvlink/2"),
        ("host-1-1", "nvlink/4", "host-1-nvswitch0", ""),
    }


def test_far_ends_go_by_written_names(tmp_path: Path) -> None:
    devices = [
        Device(name="a0", role="accelerator", host="host-1", ids=("GPU-9B", "0000:9b:00.0")),
        Device(name="a1", role="accelerator", host="host-1", ids=("GPU-9C", "0000:9c:00.0")),
        Device(name="sw", role="switch", host="host-1", ids=("0000:c4:00.0",)),
    ]
    found = facing(tmp_path, Topology(devices), xml=False)
    assert ("a0", "nvlink/1", "sw", "nvlink/3") in found
    assert ("a1", "nvlink/2", "a0", "nvlink/2") in found
