"""What a visit asks of an agent; whoever does the I/O answers.

A part of a visit is a generator: it yields OIDs of columns and is sent what lies below them, or the
OIDs of single variables as `Exact`. The live agent and a recorded walk answer the same questions,
so that both go through the same decoders.
"""

from collections.abc import Generator, Mapping

from collectors.protocols.snmp_columns import Answer, Recording

Answers = Mapping[str, Answer]
"""By the OID that was asked for; a column that is not there is not among them, or empty."""


class Exact(tuple[str, ...]):
    """OIDs of variables known before; each that is there is answered by itself."""

    __slots__ = ()


Part = Generator[tuple[str, ...], Answers, None]
"""One part of a visit."""


def run(part: Part, recording: Recording) -> None:
    """Let a part ask, and answer it from a recorded walk."""
    try:
        asked = next(part)
        while True:
            asked = part.send(
                recording.variables(asked)
                if isinstance(asked, Exact)
                else {oid: recording.column(oid) for oid in asked}
            )
    except StopIteration:
        return
