"""One module's memory -> everything it tells the catalogue, whatever standard it follows."""

from collectors.protocols.module import (
    Alarm,
    Item,
    Kind,
    Limit,
    Memory,
    Module,
    Signal,
    Value,
)
from collectors.protocols.optics import reference
from collectors.protocols.optics.identity import identity_of
from collectors.protocols.optics.presence import resolve


def decode(memory: Memory) -> Module:
    """Read a module; without its diagnostics there is an identity alone.

    Raises:
        MalformedReply: the identifier is not known, or lower memory or page 00h is not whole.
    """
    presence = resolve(memory)
    told = [
        (one.cell.item, one.value)
        for one in reference.read(memory, presence)
        if one.cell.item is not None and isinstance(one.value, float) and one.value == one.value
    ]
    return Module(
        identity_of(memory),
        tuple(Value(i.quantity, i.lane, value, i.side) for i, value in _of(told, Kind.VALUE)),
        tuple(Limit(i.quantity, i.bound, i.level, value) for i, value in _of(told, Kind.LIMIT)),
        tuple(
            Alarm(i.quantity, i.bound, i.level, i.lane, value != 0)
            for i, value in _of(told, Kind.ALARM)
        ),
        tuple(Signal(i.quantity, i.lane, value != 0) for i, value in _of(told, Kind.SIGNAL)),
    )


def _of(told: list[tuple[Item, float]], kind: Kind) -> list[tuple[Item, float]]:
    return [(item, value) for item, value in told if item.kind is kind]
