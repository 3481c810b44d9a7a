"""One module read whole by the slow decoder, as reports look at it."""

from dataclasses import dataclass
from math import isnan

from collectors.protocols.module import Kind, Memory
from collectors.protocols.optics.presence import Presence, resolve
from collectors.protocols.optics.reference import Told, read


@dataclass(frozen=True, slots=True)
class SeenModule:
    """One module, read whole."""

    memory: Memory
    presence: Presence
    values: tuple[Told, ...]

    def named(self, name: str) -> list[Told]:
        """Return the values of one row."""
        return [one for one in self.values if one.cell.field.name == name]

    def limits(self, quantity: str) -> dict[tuple[str, str], float]:
        """Return a quantity's own limits that are set, by bound and level."""
        found: dict[tuple[str, str], float] = {}
        for one in self.values:
            item = one.cell.item
            is_its = item is not None and item.kind is Kind.LIMIT and item.quantity == quantity
            if item and is_its and isinstance(one.value, float) and not isnan(one.value):
                found.setdefault((item.bound, item.level), one.value)
        return found


def seen(memory: Memory) -> SeenModule:
    """Read a module whole.

    Raises:
        MalformedReply: the identifier is not known, or lower memory or page 00h is not whole.
    """
    presence = resolve(memory)
    return SeenModule(memory, presence, tuple(read(memory, presence)))
