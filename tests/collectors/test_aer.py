"""PCIe and CXL links out of sysfs."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import sysfs_pci
from collectors.source import Target
from collectors.sources.aer import Aer, AerSettings
from fabrichealth.catalogue.devices import PCIE_ERRORS
from fabrichealth.catalogue.ports import LANES, MAX_LANES, MAX_SPEED, SPEED
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Reason, SeriesTable
from fabrichealth.topology import Topology
from fabrichealth.topology.rows import Device
from tests.fixtures import readings

AT = 1_800_000_000.0
NIC, GPU, USB, CXL = (f"0000:{bus}:00.0" for bus in ("3b", "9b", "01", "c1"))
CORRECTABLE = "RxErr {}\nBadTLP 2\nBadDLLP 0\nTOTAL_ERR_COR 5\n"
FATAL = "Undefined 0\nDLP 1\nTOTAL_ERR_FATAL 1\n"


def device(
    address: str, kind: str, *, speed: str = "32.0 GT/s PCIe", width: str = "16"
) -> dict[str, str]:
    folder = f"sys/bus/pci/devices/{address}"
    return {
        f"{folder}/class": f"{kind}\n",
        f"{folder}/aer_dev_correctable": CORRECTABLE.format(3),
        f"{folder}/aer_dev_fatal": FATAL,
        f"{folder}/current_link_speed": f"{speed}\n",
        f"{folder}/current_link_width": f"{width}\n",
        f"{folder}/max_link_speed": "32.0 GT/s PCIe\n",
        f"{folder}/max_link_width": "16\n",
    }


FILES = {
    **device(NIC, "0x020000", width="8"),
    **device(GPU, "0x030200", speed="Unknown", width="63"),
    **device(USB, "0x0c0330"),
}


def grow(root: Path, files: dict[str, str]) -> Path:
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return root


def source(root: Path | None = None, topology: Topology | None = None, **given: object) -> Aer:
    options = {"root": str(root)} if root else {}
    target = Target("host-001", "aer", "", "", options, topology or Topology())
    return Aer(AerSettings.model_validate(given), target, SeriesTable())


async def test_errors_have_severity_and_type_and_totals_are_left_out(tmp_path: Path) -> None:
    one = source(grow(tmp_path, FILES))
    poll = await one.read(AT)
    found = readings(poll, one.table, PCIE_ERRORS)
    nic = ("host-001", f"pcie/{NIC}")
    assert {labels[2:]: value for labels, value in found.items() if labels[:2] == nic} == {
        ("correctable", "RxErr"): 3, ("correctable", "BadTLP"): 2, ("correctable", "BadDLLP"): 0,
        ("fatal", "Undefined"): 0, ("fatal", "DLP"): 1,
    }  # fmt: skip
    assert {labels[1] for labels in found} == {f"pcie/{NIC}", f"pcie/{GPU}"}


async def test_a_link_narrower_than_it_could_be_shows_both(tmp_path: Path) -> None:
    one = source(grow(tmp_path, FILES))
    poll = await one.read(AT)
    nic, gpu = ("host-001", f"pcie/{NIC}"), ("host-001", f"pcie/{GPU}")
    assert readings(poll, one.table, LANES) == {nic: 8}  # the other has no link at all
    assert readings(poll, one.table, SPEED) == {nic: 256e9}
    assert readings(poll, one.table, MAX_LANES) == {nic: 16, gpu: 16}
    assert readings(poll, one.table, MAX_SPEED) == {nic: 512e9, gpu: 512e9}


async def test_the_topology_knows_whose_address_it_is(tmp_path: Path) -> None:
    known = Topology(
        [Device(name="gpu-7", role="accelerator", host="host-001", ids=("00000000:9B:00.0",))]
    )
    one = source(grow(tmp_path, FILES), known, devices="all")
    found = readings(await one.read(AT), one.table, PCIE_ERRORS)
    assert {labels[:2] for labels in found} == {
        ("gpu-7", f"pcie/{GPU}"), ("host-001", f"pcie/{NIC}"), ("host-001", f"pcie/{USB}"),
    }  # fmt: skip


async def test_the_link_of_cxl_memory_goes_by_the_memorys_name(tmp_path: Path) -> None:
    grow(tmp_path, device(CXL, "0x050210"))
    bus = tmp_path / "sys/bus/cxl/devices"
    bus.mkdir(parents=True)
    (bus / "mem0").symlink_to(f"../../../devices/pci0000:c0/0000:c0:01.0/{CXL}/mem0")
    one = source(tmp_path)
    found = readings(await one.read(AT), one.table, PCIE_ERRORS)
    assert {labels[1] for labels in found} == {"cxl/mem0"}


async def test_a_card_that_is_pulled_is_absent_and_one_that_errs_is_refused(tmp_path: Path) -> None:
    one = source(grow(tmp_path, FILES))
    await one.read(AT)
    for path in FILES:
        if GPU in path:
            (tmp_path / path).unlink()
    (tmp_path / f"sys/bus/pci/devices/{NIC}/aer_dev_correctable").write_text("RxErr many\n")
    await one.read(AT + 30)
    poll = await one.read(AT + 60)
    assert {labels[2] for labels in readings(poll, one.table, PCIE_ERRORS)} == {"fatal"}
    assert [(refused.what, refused.reason) for refused in poll.refused] == [
        ("aer_dev_correctable", Reason.MALFORMED)
    ]


def test_a_map_of_the_tree_says_the_same_as_the_tree(tmp_path: Path) -> None:
    folder = grow(tmp_path / "tree", FILES)
    file = tmp_path / "map.json"
    file.write_text(json.dumps({f"/{path}": content for path, content in FILES.items()}))
    found = []
    for place in (folder, folder / "sys", folder / "sys/bus/pci/devices", file):
        one = source()
        found.append(readings(one.captured([place], AT), one.table, PCIE_ERRORS))
    assert found[1:] == found[:-1]
    assert len(found[0]) == 10


async def test_a_host_without_pci_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match="host-001: no PCI device of a fabric"):
        await source(tmp_path).read(AT)


@given(st.binary(max_size=80) | st.text("RxErTOAL_0123456789 \n", max_size=60).map(str.encode))
def test_any_file_is_read_or_malformed(raw: bytes) -> None:
    for read in (sysfs_pci.report, sysfs_pci.speed, sysfs_pci.width):
        try:
            read(raw)
        except MalformedReply:
            continue
