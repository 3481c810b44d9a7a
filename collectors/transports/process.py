"""Tools of others run once: fixed words, a deadline, a bounded output, nothing left behind.

The words are never put together from what a device said, beyond numbers that were checked. A tool
runs in a process group of its own, which is ended as a whole.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from fabrichealth.errors import SourceUnavailable

MOST_BYTES = 64 * 2**20
"""More than any fabric's listing; a tool that writes more is ended."""

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool wrote, and how it ended; `late` where it had to be ended."""

    stdout: str
    stderr: str
    status: int
    late: bool = False

    @property
    def complaint(self) -> str:
        """The first line of stderr, else how it ended, for messages."""
        if self.late:
            return "no end in time"
        first = next((line for line in self.stderr.splitlines() if line.strip()), "")
        return first.strip()[:200] or f"exit status {self.status}"


async def run(words: Sequence[str], within: float) -> Output:
    """Run a tool for at most so many seconds; what it wrote until then is kept.

    Raises:
        SourceUnavailable: there is no such tool, or it may not be run.
    """
    try:
        child = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
        )
    except OSError as wrong:
        raise SourceUnavailable(
            f"{words[0]} cannot be run ({wrong.strerror}); is it installed, and may this user?"
        ) from None
    out, err = bytearray(), bytearray()
    late = False
    try:
        async with asyncio.timeout(within):
            await asyncio.gather(_read(child.stdout, out), _read(child.stderr, err))
            await child.wait()
    except (TimeoutError, OverflowError):
        late = True
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
    status = child.returncode if child.returncode is not None else -1
    return Output(out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), status, late)


async def _read(stream: asyncio.StreamReader | None, into: bytearray) -> None:
    while stream is not None and (part := await stream.read(_CHUNK)):
        into += part
        if len(into) > MOST_BYTES:
            raise OverflowError
