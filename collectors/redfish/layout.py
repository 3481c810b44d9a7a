"""Layout: what one resource tells, worked out once for its shape and the words that decide it.

As long as a body has the same shape and the same words (state, unit, type, name), a poll picks its
values by position. What a state says is not there, or offline, is no cell at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from collectors.protocols import json_tree
from collectors.protocols.json_tree import Shape
from collectors.protocols.redfish.documents import Body
from collectors.redfish import kinds
from collectors.redfish.cells import Cell, cells
from collectors.redfish.names import Names
from fabrichealth.model import Refused

DECIDING = frozenset(
    {
        "State", "ReadingUnits", "ReadingType", "ReadingBasis", "PhysicalContext", "Name", "Id",
        "DeviceName", "FanName", "MemberId", "DataSourceUri", "CircuitType", "CoolantConnectorType",
        "Manufacturer", "ReservoirType", "@odata.type", "UpperThresholdCritical",
        "UpperThresholdFatal", "UpperThresholdNonCritical", "MaxReadingRangeTemp", "CoolantType",
        "Model", "FirmwareVersion", "Version", "Enabled",
    }
)  # fmt: skip
"""Properties whose words decide what the others are."""

Pick = Callable[[Sequence[Any]], tuple[Any, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """What follows from one shape and its deciding words."""

    shape: Shape
    decided: Pick
    words: tuple[Any, ...]
    cells: tuple[Cell, ...]
    pick: Pick
    refused: tuple[Refused, ...]
    """Readings that are refused as long as the words stay: offline, relative, in a strange unit."""
    sources: frozenset[str]
    """Places of the sensors whose readings stand in this body."""

    def fits(self, shape: Shape, values: Sequence[Any]) -> bool:
        """Return whether a body of this shape and with these values is laid out so."""
        return self.shape == shape and self.decided(values) == self.words


def laid_out(path: str, body: Body, names: Names, maker: str) -> Layout:
    """Return what a body tells; `maker` is who made it where it does not say."""
    shape, values = json_tree.flattened(body)
    at = {leaf: number for number, leaf in enumerate(json_tree.paths(shape))}
    decided = _picker([number for leaf, number in at.items() if leaf[-1] in DECIDING])
    told = cells(path, body, names, kinds.maker(body) or maker, at)
    return Layout(
        shape, decided, decided(values), told.cells, _picker([one.place for one in told.cells]),
        told.refused, told.sources,
    )  # fmt: skip


def _picker(wanted: list[int]) -> Pick:
    """Return what takes the values at these places."""
    if not wanted:
        return lambda values: ()
    if len(wanted) == 1:
        (place,) = wanted
        return lambda values: (values[place],)
    return itemgetter(*wanted)
