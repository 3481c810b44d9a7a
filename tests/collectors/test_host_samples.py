"""The host source on captures of real devices, where they lie beside the repository."""

from pathlib import Path

import pytest

from collectors.intake import Bounds, checked
from collectors.source import Target
from collectors.sources.host import Host, HostSettings
from fabrichealth.model import Reason, SeriesTable

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
CAPTURES = sorted(
    path
    for folder in ("sysfs-infiniband", "ethtool-stats", "ethtool-text", "ethtool-json")
    for path in (SAMPLES / folder).glob("*")
    if path.suffix in {".txt", ".json"} or path.is_dir()
)

pytestmark = pytest.mark.skipif(not CAPTURES, reason="no captures of real devices here")


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: str(path.name))
def test_a_real_capture_is_read_without_a_misunderstanding(capture: Path) -> None:
    table = SeriesTable()
    source = Host(HostSettings(), Target("sample", "host"), table)
    poll = checked(source.captured([capture], 0.0), Bounds(table), table, 0.0, 300.0)
    assert poll.readings >= 2
    misread = {Reason.MALFORMED, Reason.DUPLICATE, Reason.FAILED}
    assert [one for one in poll.refused if one.reason in misread] == []
    for batch in poll.batches:
        assert {table.metric(int(series)) for series in batch.series} <= set(Host.metrics)
