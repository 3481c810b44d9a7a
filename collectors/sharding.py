"""Sharding: which of several collectors reads a target, told by the target's name alone.

Rendezvous hashing (Thaler, Ravishankar 1998): every shard draws a number for a name, the highest
has it. All collectors of one site file so agree without speaking to each other, and one shard more
takes about its share from each of the others and moves nothing between them.
"""

from dataclasses import dataclass
from hashlib import blake2b


@dataclass(frozen=True, slots=True)
class Shard:
    """Share `number` (from 1 on) of `count`."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Return the shard written `i/n`.

        Raises:
            ValueError: it is not of this form, or i is not in 1..n.
        """
        number, slash, count = text.partition("/")
        plain = all(
            part.isascii() and part.isdecimal() and len(part) < 7 for part in (number, count)
        )
        if not (slash and plain):
            raise ValueError(f"{text!r}: write i/n, such as 1/3")
        shard = cls(int(number), int(count))
        if not 1 <= shard.number <= shard.count:
            raise ValueError(f"{text!r}: i runs from 1 to n")
        return shard

    def holds(self, name: str) -> bool:
        """Return whether a target of this name is read by this shard."""
        return self.count == 1 or holder(name, self.count) == self.number

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


WHOLE = Shard(1, 1)
"""Of one collector, which reads everything."""


def holder(name: str, count: int) -> int:
    """Return the number (1..count) of the shard that reads a target of this name."""
    seed = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16)

    def drawn(number: int) -> tuple[bytes, int]:
        draw = seed.copy()
        draw.update(b"\0%d" % number)
        return draw.digest(), number

    return max(range(1, count + 1), key=drawn)
