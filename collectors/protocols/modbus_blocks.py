"""Which registers are read together: blocks around holes, within what one request may ask for.

A request that touches one address that a device does not have is refused as a whole (exception 2),
so that a block reads across no hole unless it is told to, and is split in two where it was refused.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from collectors.protocols.modbus_registers import COIL, DISCRETE, Register

MOST_REGISTERS, MOST_BITS = 125, 2000
"""That one request may ask for (Modbus Application Protocol V1.1b3, sections 6.1 to 6.4)."""

ADDRESSES = 65_536

Span = tuple[int, int]
"""Addresses of what is never split: the first, and the one behind the last."""


@dataclass(frozen=True, slots=True)
class Block:
    """One request: spans of one table, in order."""

    function: int
    spans: tuple[Span, ...]

    @property
    def address(self) -> int:
        """The first address asked for."""
        return self.spans[0][0]

    @property
    def count(self) -> int:
        """How many addresses are asked for."""
        return self.spans[-1][1] - self.address

    def halves(self) -> tuple["Block", ...]:
        """Return two blocks with half of the spans each; none of what cannot be split."""
        middle = len(self.spans) // 2
        if not middle:
            return ()
        return Block(self.function, self.spans[:middle]), Block(self.function, self.spans[middle:])


def planned(
    registers: Iterable[Register], longest: int = MOST_REGISTERS, bridge: int = 0
) -> tuple[Block, ...]:
    """Return the blocks that read all registers.

    `longest` limits what a request asks for; over up to `bridge` addresses that nobody wants it
    reads on.
    """
    tables: dict[int, list[Span]] = defaultdict(list)
    for one in sorted(registers, key=lambda one: (one.function, one.address)):
        spans = tables[one.function]
        first, end = one.address, one.address + one.width
        if spans and first < spans[-1][1]:  # numbers that share words are read together
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((first, end))
    return tuple(
        Block(function, tuple(group))
        for function, spans in tables.items()
        for group in _joined(spans, _most(function, longest), bridge)
    )


def _most(function: int, longest: int) -> int:
    return MOST_BITS if function in {COIL, DISCRETE} else min(longest, MOST_REGISTERS)


def _joined(spans: list[Span], most: int, bridge: int) -> list[list[Span]]:
    groups: list[list[Span]] = []
    for span in spans:
        last = groups[-1] if groups else None
        if last and span[0] - last[-1][1] <= bridge and span[1] - last[0][0] <= most:
            last.append(span)
        else:
            groups.append([span])
    return groups
