"""Numbering of series: metric and rank of each, while others go on adding some."""

from fabrichealth.catalogue.ports import RX_BYTES, UP
from fabrichealth.metric import Metric
from fabrichealth.model import SeriesTable
from fabrichealth.store.numbering import Numbering


class Busy(SeriesTable):
    """A table to which a collector adds a series whenever it is looked at."""

    def metrics(self) -> tuple[Metric, ...]:
        for port in range(100):
            self.intern(UP, ("leaf-01", f"{len(self)}/{port}"))
        return super().metrics()


def test_series_that_come_while_it_learns_are_taken_the_next_time() -> None:
    table = Busy()
    table.intern(RX_BYTES, ("leaf-01", "1"))
    numbering = Numbering(table)
    for _ in range(3):
        numbering.learn()
        assert 0 not in numbering.metric
    ups = numbering.metric == numbering.number(UP)
    assert numbering.rank[ups].tolist() == list(range(int(ups.sum())))
