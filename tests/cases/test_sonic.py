"""Cases of SONiC's databases that once broke tools of this kind: resets, resumes, MACs, time."""

from pathlib import Path
from typing import Any

import pytest

from fabrichealth.catalogue import congestion, ports
from fabrichealth.model import Neighbor
from tests.collectors.sonic_switch import Databases, P, Q
from tests.collectors.test_sonic import AT, E0, Seen

E8 = ("leaf-01", "Ethernet8")


@pytest.fixture
def seen(tmp_path: Path) -> Seen:
    return Seen(tmp_path)


def counted(**by_port: dict[str, Any]) -> Databases:
    """Return a COUNTERS_DB whose ports have these counters."""
    rows: dict[str, dict[str, str]] = {
        "COUNTERS_PORT_NAME_MAP": {name: f"oid:{n}" for n, name in enumerate(by_port)}
    }
    for number, fields in enumerate(by_port.values()):
        rows[f"COUNTERS:oid:{number}"] = {P + name: str(value) for name, value in fields.items()}
    return {"COUNTERS_DB": rows}


def test_a_cleared_counter_does_not_touch_the_others_and_missing_is_not_zero(seen: Seen) -> None:
    bins = [(5 * 10**12, 900, 40), (5 * 10**12 + 10**7, 930, 44)]
    polls = [
        seen.poll(
            counted(
                Ethernet0={
                    "IF_IN_OCTETS": octets,
                    **{f"IF_IN_FEC_CODEWORD_ERRORS_S{n}": words for n, words in enumerate(told)},
                },
                Ethernet8={"IF_IN_OCTETS": 100 + octets // 10**9},
            ),
            AT + 10 * number,
        )
        for number, (octets, told) in enumerate(zip((7 * 10**11, 3 * 10**8), bins, strict=True))
    ]
    first, second = (
        {metric: dict(found) for metric in (ports.RX_BYTES, ports.FEC_CODEWORDS)
         for found in [_readings(seen, poll, metric)]}
        for poll in polls
    )  # fmt: skip
    rises = [
        second[ports.FEC_CODEWORDS][(*E0, str(n))] - first[ports.FEC_CODEWORDS][(*E0, str(n))]
        for n in range(3)
    ]
    assert rises == [10**7, 30, 4]
    assert second[ports.RX_BYTES][E0] == 3e8  # the device's own value, not carried on
    assert {labels[1] for labels in second[ports.FEC_CODEWORDS]} == {"Ethernet0"}


def _readings(seen: Seen, poll: Any, metric: Any) -> dict[Any, float]:
    return {
        seen.table.labels(int(one)): float(value)
        for batch in poll.batches
        for one, value in zip(batch.series, batch.values, strict=True)
        if seen.table.metric(int(one)) is metric
    }


def test_frames_are_no_pause_and_a_pause_is_in_seconds(seen: Seen) -> None:
    content = counted(
        Ethernet0={"PFC_3_RX_PKTS": 3_000_000, "PFC_3_RX_PAUSE_DURATION_US": 0},
        Ethernet8={"PFC_3_RX_PKTS": 9000, "PFC_3_RX_PAUSE_DURATION_US": 1_980_000},
    )
    rows = content["COUNTERS_DB"]
    rows["COUNTERS_QUEUE_NAME_MAP"] = {"Ethernet8:3": "oid:q"}
    rows["COUNTERS:oid:q"] = {f"{Q}PACKETS": "50", f"{Q}CURR_OCCUPANCY_BYTES": "4100000"}
    poll = seen.poll(content)
    assert _readings(seen, poll, congestion.PFC_RX_PAUSE) == {(*E0, "3"): 0.0, (*E8, "3"): 1.98}
    assert _readings(seen, poll, congestion.PFC_RX_FRAMES)[(*E0, "3")] == 3e6
    assert _readings(seen, poll, congestion.QUEUE_OCCUPANCY) == {(*E8, "3"): 4.1e6}


@pytest.mark.parametrize(
    ("row", "port"),
    [
        ({"lldp_rem_port_id_subtype": "3", "lldp_rem_port_id": "02:00:5e:00:00:07"}, ""),
        ({"lldp_rem_port_id": "02:00:5e:00:00:07"}, ""),
        ({"lldp_rem_port_id": "0200.5e00.0007"}, ""),
        ({"lldp_rem_port_id_subtype": "7", "lldp_rem_port_id": "etp4"}, "etp4"),
        ({"lldp_rem_port_id": "ethernet1/1; uplink"}, "ethernet1/1; uplink"),
    ],
)
def test_a_neighbour_that_gives_its_mac_has_a_port_unknown(
    seen: Seen, row: dict[str, str], port: str
) -> None:
    said = {"lldp_rem_sys_name": "spine-9", "lldp_rem_port_desc": "Ethernet60", **row}
    rows = {"APPL_DB": {"PORT_TABLE:Ethernet0": {"oper_status": "up"},
                        "LLDP_ENTRY_TABLE:Ethernet0": said}}  # fmt: skip
    assert seen.poll(rows).neighbors == [Neighbor(*E0, "spine-9", port, "lldp")]


def test_a_port_without_an_entry_claims_no_neighbour(seen: Seen) -> None:
    rows = {"APPL_DB": {"PORT_TABLE:Ethernet0": {"oper_status": "up"}}}
    assert seen.poll(rows).neighbors == []


def test_local_time_at_the_end_of_summer_is_not_trusted(seen: Seen) -> None:
    stamps = [(0, "Sun Nov 01 01:59:40 2026"), (40, "Sun Nov 01 01:00:20 2026"),
              (3600, "Sun Nov 01 01:59:40 2026")]  # fmt: skip
    for seconds, stamp in stamps:
        content = counted(Ethernet0={"IF_IN_OCTETS": 10**9 + 10**6 * seconds})
        content["COUNTERS_DB"]["COUNTERS:oid:0"]["last_update_time"] = stamp
        poll = seen.poll(content, AT + seconds)
        assert [(batch.at, batch.values.tolist()) for batch in poll.batches] == [
            (AT + seconds, [10**9 + 10**6 * seconds])
        ]
        assert poll.refused == []
