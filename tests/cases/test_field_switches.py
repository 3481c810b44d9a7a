"""What a SONiC switch holds in Redis, as the field has it: a cable without sensors, a clear."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from collectors.source import Target
from collectors.sources.sonic import Sonic, SonicSettings
from fabrichealth.catalogue import optics
from fabrichealth.catalogue.ports import FEC_CODEWORDS, RX_BYTES
from fabrichealth.counters import increases
from fabrichealth.store.embedded import EmbeddedStore
from tests.cases.field import CASES, Watched, at_hand, of_json
from tests.fixtures import readings

pytestmark = at_hand

START = 1_764_410_400.0


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    store = EmbeddedStore.open(tmp_path / "store")
    yield Watched(store, Sonic(SonicSettings(), Target("leaf-1", "sonic"), store.table))
    store.close()


def test_c13_placeholders_of_a_passive_cable_are_no_readings(watched: Watched) -> None:
    poll = watched.read(CASES / "c13.json", START)
    table = watched.store.table
    told = Counter(
        (table.metric(row), table.labels(row)[1]) for batch in poll.batches
        for row in map(int, batch.series)
    )  # fmt: skip
    lanes = {optics.RX_POWER: 8, optics.TX_POWER: 8, optics.TX_BIAS: 8}
    for metric, many in {**lanes, optics.TEMPERATURE: 1, optics.SUPPLY: 1}.items():
        assert told[metric, "Ethernet0"] == many
        assert told[metric, "Ethernet8"] == 0
    assert readings(poll, table, optics.TEMPERATURE)["leaf-1", "Ethernet0"] == 46.2
    assert readings(poll, table, optics.SUPPLY)["leaf-1", "Ethernet0"] == 3.31
    limits = readings(poll, table, optics.THRESHOLD)  # others read N/A: none
    assert sorted(limits.values()) == [-8.9, 75.0]
    assert poll.refused == []
    assert watched.ledger.incidents == []


def test_c14_a_clear_of_one_counter_is_no_clear_of_the_others(
    watched: Watched, tmp_path: Path
) -> None:
    case = of_json("c14")
    file = tmp_path / "db.json"
    for poll in case["polls"]:
        rows = {f"COUNTERS:{oid}": row for oid, row in poll["COUNTERS"].items()}
        names = {"COUNTERS_PORT_NAME_MAP": case["COUNTERS_PORT_NAME_MAP"]}
        file.write_text(json.dumps({"COUNTERS_DB": {**names, **rows}}))
        watched.read(file, float(poll["t"]))
    first, last = (float(poll["t"]) for poll in case["polls"])
    bins = watched.store.window(FEC_CODEWORDS, last + 1.0, last - first + 2.0)
    assert {bins.labels(row)[1] for row in range(len(bins))} == {"Ethernet0"}  # none is not 0
    grown = increases(bins.values, bins.times).total()
    by_bin = {int(bins.labels(row)[2]): float(grown[row]) for row in range(len(bins))}
    assert (by_bin[0], by_bin[1], by_bin[2], by_bin[3]) == (1e8, 100.0, 5.0, 0.0)
    assert sum(errors * many for errors, many in by_bin.items()) == 110.0
    octets = watched.store.window(RX_BYTES, last + 1.0, last - first + 2.0)
    sent = dict(
        zip(
            (octets.labels(row)[1] for row in range(len(octets))),
            increases(octets.values, octets.times).total().tolist(),
            strict=True,
        )
    )
    assert sent["Ethernet104"] / (last - first) == 100.0
    assert 0.0 <= sent["Ethernet0"] <= 400_000_000.0  # since the clear, never wrap-sized
