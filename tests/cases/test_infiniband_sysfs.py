"""Cases of InfiniBand sysfs that once broke tools of this kind: an odd file, a forgotten unit."""

import json
from pathlib import Path
from typing import Any

import pytest

from collectors.source import Target
from collectors.sources.host import Host, HostSettings
from fabrichealth.catalogue.infiniband import MANAGEMENT_DROPS
from fabrichealth.catalogue.ports import (
    LINK_DOWNS,
    PORT_INFO,
    RX_BYTES,
    SPEED,
    SYMBOL_ERRORS,
    TRANSMIT_WAIT,
    TX_BYTES,
    UP,
)
from fabrichealth.model import Poll, Reason, SeriesTable
from tests.fixtures import readings

COUNTERS = (SYMBOL_ERRORS, LINK_DOWNS, TX_BYTES, RX_BYTES, TRANSMIT_WAIT, MANAGEMENT_DROPS)
NAMES = (
    "symbol_error",
    "link_downed",
    "port_xmit_data",
    "port_rcv_data",
    "port_xmit_wait",
    "VL15_dropped",
)


def port(device: str, **files: str) -> dict[str, str]:
    """Return the files of port 1 of a device; `__` in a name is a slash."""
    folder = f"class/infiniband/{device}/ports/1"
    return {f"{folder}/{name.replace('__', '/')}": f"{text}\n" for name, text in files.items()}


def read(tmp_path: Path, *polls: dict[str, Any]) -> tuple[list[Poll], SeriesTable]:
    """Return what captures 10 s apart give, in order."""
    table = SeriesTable()
    source = Host(HostSettings(), Target("node-7", "host"), table)
    found = []
    for number, capture in enumerate(polls):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(capture))
        found.append(source.captured([path], 10.0 * number))
    return found, table


def test_one_odd_device_or_file_does_not_stop_the_rest(tmp_path: Path) -> None:
    whole = {f"counters__{name}": str(11 * place) for place, name in enumerate(NAMES, 1)}
    link = {"state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "200 Gb/sec (4X HDR)"}
    files = {
        **port("ibp1", link_layer="InfiniBand", **link, **whole),
        **port("ibp2", link_layer="InfiniBand", **link, **whole),
        **port(
            "roce3",
            link_layer="Ethernet",
            **(link | {"rate": "50 Gb/sec (1X HDR)"}),
            **dict.fromkeys(whole, "N/A (no PMA)"),
        ),
    }
    broken = {"class/infiniband/ibp2/ports/1/counters/VL15_dropped": "EINVAL"}
    (poll,), table = read(tmp_path, {"files": files, "read_errors": broken})
    counted = {
        name: sum(("node-7", f"{name}/1") in readings(poll, table, metric) for metric in COUNTERS)
        for name in ("ibp1", "ibp2", "roce3")
    }
    assert counted == {"ibp1": 6, "ibp2": 5, "roce3": 0}
    assert len(readings(poll, table, UP)) == 3
    assert readings(poll, table, SPEED)["node-7", "roce3/1"] == 5e10
    refused = [(one.labels["port"], one.reason) for one in poll.refused]
    assert refused.count(("ibp2/1", Reason.UNSUPPORTED)) == 1
    assert {name for name, _ in refused} == {"ibp2/1", "roce3/1"}
    assert poll.missing == []


def test_data_counters_count_words_of_four_bytes(tmp_path: Path) -> None:
    polls = [
        {
            "files": port(
                "ibp1",
                state="4: ACTIVE",
                rate="200 Gb/sec (4X HDR)",
                counters__port_xmit_data=str(7 * 10**12 + 3 * 10**10 * number),
                counters__port_rcv_data=str(2 * 10**11 + 5 * 10**7 * number),
            )
        }
        for number in range(2)
    ]
    (first, second), table = read(tmp_path, *polls)
    here = ("node-7", "ibp1/1")
    sent, received = (
        (readings(second, table, metric)[here] - readings(first, table, metric)[here]) / 10.0
        for metric in (TX_BYTES, RX_BYTES)
    )
    assert sent == 12e9  # 96 Gb/s, 48 % of the link
    assert received == 20e6
    assert 8 * sent / readings(second, table, SPEED)[here] == pytest.approx(0.48)


def test_a_port_renamed_by_a_reboot_is_the_same_port(tmp_path: Path) -> None:
    guid = "aa00:0000:0000:0042"
    polls = []
    for name, downs, boot in (("ibp1", 4, 1000), ("ibp1", 5, 1000), ("ibp9", 0, 5000)):
        files = port(name, state="4: ACTIVE", counters__link_downed=str(downs))
        files[f"class/infiniband/{name}/node_guid"] = guid
        files["proc/stat"] = f"btime {boot}\n"
        polls.append({"files": files})
    found, table = read(tmp_path, *polls)
    downs_seen = [next(iter(readings(poll, table, LINK_DOWNS).values())) for poll in found]
    assert downs_seen == [4.0, 5.0, 0.0]  # the device's own value after a reset, not carried on
    assert [poll.missing for poll in found] == [[], [], []]
    assert found[2].events[0].more == {"from": "ibp1/1", "to": "ibp9/1"}
    uids = {dict(zip(PORT_INFO.labels, labels, strict=True))["uid"]
            for poll in found for labels in readings(poll, table, PORT_INFO)}  # fmt: skip
    assert uids == {"0xaa00000000000042:1"}
