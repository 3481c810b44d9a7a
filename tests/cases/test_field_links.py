"""Ports of InfiniBand as the field has them, from sysfs to what is judged."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from collectors.source import Target
from collectors.sources.host import Host, HostSettings
from fabrichealth.catalogue.ports import LINK_DOWNS, PORT_INFO, RX_BYTES, SPEED, TX_BYTES, UP
from fabrichealth.counters import increases
from fabrichealth.kinds import LINK_DEGRADED_SPEED, LINK_FLAPPING
from fabrichealth.model import Incident, Place
from fabrichealth.store.embedded import EmbeddedStore
from tests.cases.field import CASES, Watched, at_hand, of_json
from tests.cases.test_infiniband_sysfs import COUNTERS
from tests.fixtures import readings

pytestmark = at_hand

DAY = 86_400.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    opened = EmbeddedStore.open(tmp_path / "store")
    yield opened
    opened.close()


def host(store: EmbeddedStore, name: str) -> Watched:
    return Watched(store, Host(HostSettings(), Target(name, "host"), store.table))


def device(name: str, **files: object) -> dict[str, str]:
    """Return the files of port 1 of a device; `node_guid` is the device's own."""
    folder = f"class/infiniband/{name}"
    own = {f"{folder}/{one}": f"{files.pop(one)}\n" for one in ("node_guid",) if one in files}
    return own | {f"{folder}/ports/1/{one}": f"{text}\n" for one, text in files.items()}


def seen(poll: Mapping[str, Any]) -> dict[str, str]:
    """Return the tree of a host that has these NICs."""
    files = {"proc/stat": f"btime {poll['boot_time']}\n"}
    for nic in poll["nics"]:
        guid = f"{int(nic['node_guid'], 16):016x}"
        text = ":".join(guid[at : at + 4] for at in range(0, 16, 4))
        down = nic["state"] == "DOWN"
        files |= device(
            nic["name"],
            node_guid=text,
            link_layer="InfiniBand",
            state="1: DOWN" if down else "4: ACTIVE",
            phys_state="3: Disabled" if down else "5: LinkUp",
            rate="400 Gb/sec (4X NDR)",
            **{"counters/link_downed": nic["link_downed"]},
        )
    return files


def test_c09_an_alert_of_a_port_follows_it_to_its_new_name_and_ends(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    case = of_json("c09")
    watched = host(store, "gpu-a1")
    alert = case["open_alert_before_reboot"]
    place = Place("port", f"gpu-a1/{alert['port']}")
    since = float(alert["since"])
    reboot = next(place for place, poll in enumerate(case["polls"])
                  if poll["boot_time"] != case["polls"][0]["boot_time"])  # fmt: skip
    file = tmp_path / "tree.json"
    for number, poll in enumerate(case["polls"]):
        if number == reboot:
            watched.ledger.incidents.append(
                Incident("i99", LINK_FLAPPING, LINK_FLAPPING.severity, since, place, "fell", "look",
                         confirmed_at=since, last_seen=since)
            )  # fmt: skip
        file.write_text(json.dumps({"files": seen(poll)}))
        watched.read(file, float(poll["t"]))
        if number >= reboot:
            (one,) = watched.ledger.incidents
            assert (one.incident, one.culprit.id) == ("i99", "gpu-a1/mlx5_3/1")
    uids = {dict(zip(PORT_INFO.labels, labels, strict=True))["uid"]
            for poll in watched.polls
            for labels in readings(poll, store.table, PORT_INFO)}  # fmt: skip
    assert len(uids) == 1
    (event,) = (one for poll in watched.polls for one in poll.events if one.kind == "port_renamed")
    assert event.more == {"from": "mlx5_2/1", "to": "mlx5_3/1"}
    span = float(case["polls"][-1]["t"]) - float(case["polls"][0]["t"])
    window = store.window(LINK_DOWNS, float(case["polls"][-1]["t"]) + 1.0, span + 2.0)
    fell = increases(window.values, window.times).total()
    assert sorted(fell.tolist()) == [0.0, 1.0]  # once under the old name, never under the new one
    for hour in range(1, 26):
        watched.judge(float(case["polls"][-1]["t"]) + 3600.0 * hour)
    assert not [one for one in watched.ledger.incidents if one.kind.name.startswith("link.")]
    assert not [one for one in watched.ledger.incidents if one.kind.name == "device.down"]
    assert "i99" in {one.incident for one in watched.closed}


def test_c10_a_port_at_a_quarter_of_its_peers_is_the_one_finding(
    store: EmbeddedStore, tmp_path: Path
) -> None:
    case = of_json("c10")
    watched = host(store, case["node"])
    files: dict[str, str] = {}
    for port in case["ports"]:
        files |= device(
            port["dev"],
            state=port["state"],
            phys_state=port["phys_state"],
            rate=port["rate"],
            link_layer=port.get("link_layer", "InfiniBand"),
            **{f"counters/{name}": port[name]
               for name in ("symbol_error", "link_downed", "link_error_recovery")},
        )  # fmt: skip
    file = tmp_path / "tree.json"
    file.write_text(json.dumps({"files": files}))
    for poll in range(4):  # the same of each poll: there is no history
        watched.read(file, 1_764_410_400.0 + 30.0 * poll)
    (incident,) = watched.ledger.incidents
    assert incident.kind is LINK_DEGRADED_SPEED
    assert incident.culprit == Place("port", "gpu-c1/mlx5_3/1")
    assert "100 Gb/s instead of 400 Gb/s as its peers have" in incident.because
    assert watched.closed == []


def test_c06_one_odd_device_or_file_does_not_stop_the_rest(store: EmbeddedStore) -> None:
    watched = host(store, "node-1")
    poll = watched.read(CASES / "c06.json", 1_764_410_400.0)
    counted = {
        name: sum(
            ("node-1", f"{name}/1") in readings(poll, store.table, metric) for metric in COUNTERS
        )
        for name in ("mlx5_0", "mlx5_1", "irdma0")
    }
    assert counted == {"mlx5_0": 6, "mlx5_1": 5, "irdma0": 0}
    assert readings(poll, store.table, UP)["node-1", "irdma0/1"] == 1.0
    refused = [one.labels["port"] for one in poll.refused]
    assert refused.count("mlx5_1/1") == 1  # the one with the read error
    assert "mlx5_0/1" not in refused
    assert poll.missing == []  # success


def test_c07_data_counters_count_words_of_four_bytes(store: EmbeddedStore, tmp_path: Path) -> None:
    watched, file = host(store, "node-1"), tmp_path / "tree.json"
    polls = of_json("c07")["polls"]
    for poll in polls:
        file.write_text(json.dumps({"files": poll["files"]}))
        watched.read(file, float(poll["t"]))
    port = "node-1", "mlx5_0/1"
    rates = []
    for metric in (TX_BYTES, RX_BYTES):
        first, second = watched.stored(metric, *port).values()
        rates.append((second - first) / (polls[1]["t"] - polls[0]["t"]))
    assert rates == [6.0e9, 90e6]
    (speed,) = set(watched.stored(SPEED, *port).values())
    assert 8 * rates[0] / speed == pytest.approx(0.48)
    assert "bytes" in str(TX_BYTES)
