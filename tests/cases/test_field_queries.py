"""A sweep of an InfiniBand fabric as the field has it, part of which failed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from collectors.source import Target
from collectors.sources.ibtools import Ibtools, IbtoolsSettings
from fabrichealth.catalogue.infiniband import DESCRIPTION_INFO
from fabrichealth.catalogue.ports import SYMBOL_ERRORS, TX_BYTES
from fabrichealth.model import Reason
from fabrichealth.store.embedded import EmbeddedStore
from tests.cases.field import CASES, Watched, at_hand
from tests.fixtures import readings

pytestmark = at_hand


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    store = EmbeddedStore.open(tmp_path / "store")
    yield Watched(store, Ibtools(IbtoolsSettings(), Target("fabric", "ibtools"), store.table))
    store.close()


def test_c08_a_sweep_that_failed_in_part_tells_the_rest_by_exact_names(
    watched: Watched, tmp_path: Path
) -> None:
    reply = tmp_path / "ibqueryerrors.txt"
    shutil.copy(CASES / "c08.stdout.txt", reply)
    shutil.copy(CASES / "c08.stderr.txt", tmp_path / "ibqueryerrors.txt.stderr")
    poll = watched.read(reply, 1_764_410_400.0)
    table = watched.store.table
    switch, adapter = "0xaa00000000000011", "0xbb00000000000047"
    told = {table.labels(int(row))[:2] for batch in poll.batches for row in batch.series
            if "port" in table.metric(int(row)).labels}  # fmt: skip
    assert told == {*((switch, port) for port in ("1", "2", "40")), (adapter, "1")}
    assert readings(poll, table, SYMBOL_ERRORS) == {(switch, "40"): 7.0, (adapter, "1"): 3.0}
    assert readings(poll, table, TX_BYTES)[switch, "1"] == 20_971_520.0
    names = {labels[1] for labels in readings(poll, table, DESCRIPTION_INFO)}
    assert names == {"leaf-03 'blue': row 2", "gpu-b7 HCA-4"}
    failed = [one.labels["node"] for one in poll.refused if one.reason is Reason.FAILED]
    assert len(failed) == 2
    assert "gpu-b9 HCA-1 port 1" in failed
    assert len(poll.missing) == 2  # partial
    assert watched.ledger.incidents == []  # nobody is called missing
