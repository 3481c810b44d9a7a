"""The blocks that a device is asked for, as it turned out that it has them.

A block that a device refuses because of an address is split until the register is found that it
does not have; that one is left out for a while. What was learnt is kept from visit to visit.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from collectors.protocols.modbus_blocks import Block, planned
from collectors.protocols.modbus_exceptions import (
    ILLEGAL_ADDRESS,
    ILLEGAL_FUNCTION,
    ILLEGAL_VALUE,
    Denied,
)
from collectors.protocols.modbus_registers import Registers, Words

Ask = Callable[[Block], Awaitable[Words]]
"""Asks for one block; raises `Denied` where the device refuses."""


@dataclass(slots=True)
class Answered:
    """What one visit brought: words, which of them came, and what was refused."""

    words: Words
    came: NDArray[np.bool_]
    absent: dict[int, str] = field(default_factory=dict)
    """Rows that the device was found not to have."""
    failed: dict[int, str] = field(default_factory=dict)
    """Rows that it could not read now."""
    answers: int = 0


class Blocks:
    """The plan of one device."""

    def __init__(self, registers: Registers, longest: int, bridge: int, retry: float) -> None:
        self._registers = registers
        self._retry = retry
        self._blocks = list(planned(registers.registers, longest, bridge))
        self._longest = longest
        self._splits: Counter[tuple[int, int]] = Counter()
        self._resting: dict[Block, float] = {}
        self._rows: dict[Block, list[int]] = {}

    def __len__(self) -> int:
        """Return how many requests a visit makes."""
        return len(self._blocks)

    def lacking(self) -> set[int]:
        """Return the registers that the device was found not to have."""
        return {row for block in self._resting for row in self._rows_of(block)}

    def nothing(self) -> Answered:
        """Return an answer in which nothing came."""
        size = self._registers.size
        return Answered(np.zeros(size, np.uint16), np.zeros(size, np.bool_))

    async def ask(self, ask: Ask, at: float, into: Answered) -> None:
        """Ask for all blocks; what came stands in `into` even where asking ends with an error."""
        for block in [one for one, due in self._resting.items() if at >= due]:
            del self._resting[block]
            self._blocks.append(block)
        waiting = self._blocks[::-1]
        while waiting:
            block = waiting.pop()
            try:
                words = await ask(block)
            except Denied as why:
                into.answers += 1
                waiting += self._denied(block, why, at, into)[::-1]
            else:
                into.answers += 1
                self._fill(block, words, into)
        if into.absent:
            self._blocks = list(self._rejoined())

    def _denied(self, block: Block, why: Denied, at: float, into: Answered) -> tuple[Block, ...]:
        """Return what to ask for in place of a block."""
        if why.code not in {ILLEGAL_FUNCTION, ILLEGAL_ADDRESS, ILLEGAL_VALUE}:
            into.failed |= dict.fromkeys(self._rows_of(block), str(why))
            return ()
        halves = block.halves() if why.code != ILLEGAL_FUNCTION else ()
        if halves:
            self._splits[block.function, halves[1].address] += 1
            if why.code == ILLEGAL_VALUE:
                self._longest = min(self._longest, max(block.count - 1, 1))
        place = self._blocks.index(block)
        self._blocks[place : place + 1] = halves
        if not halves:
            self._resting[block] = at + self._retry
            into.absent |= dict.fromkeys(self._rows_of(block), str(why))
        return halves

    def _rejoined(self) -> Iterator[Block]:
        """Yield the blocks, those joined again that only a hole beside them tore apart.

        What is refused when it is joined stays apart.
        """
        before: Block | None = None
        for block in sorted(self._blocks, key=lambda one: (one.function, one.address)):
            joined = None if before is None else self._joined(before, block)
            if before is not None and joined is None:
                yield before
            before = joined or block
        if before is not None:
            yield before

    def _joined(self, one: Block, other: Block) -> Block | None:
        """Return two blocks as one, if they touch and the device may bear it."""
        edge = other.function, other.address
        if (one.function, one.address + one.count) != edge or self._splits[edge] > 1:
            return None
        block = Block(one.function, one.spans + other.spans)
        return block if block.count <= self._longest else None

    def _fill(self, block: Block, words: Words, into: Answered) -> None:
        place = self._registers.place
        for first, end in block.spans:  # words of a span stand beside each other
            start = place[block.function, first]
            into.words[start : start + end - first] = words[
                first - block.address : end - block.address
            ]
            into.came[start : start + end - first] = True

    def _rows_of(self, block: Block) -> list[int]:
        """Return the registers that a block reads."""
        if block not in self._rows:
            self._rows[block] = [
                row
                for row, one in enumerate(self._registers.registers)
                if one.function == block.function
                and any(first <= one.address < end for first, end in block.spans)
            ]
        return self._rows[block]
