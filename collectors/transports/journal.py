"""The systemd journal: `journalctl` as a child that follows it, a JSON object a line.

It runs as long as the target; what it writes is held until the next poll, a bounded amount.
"""

import asyncio
import contextlib
from collections import deque
from typing import Any

from fabrichealth.errors import SourceUnavailable

FIELDS = "MESSAGE,_HOSTNAME,_TRANSPORT,_SYSTEMD_UNIT"
ARGUMENTS = ("-o", "json", "-f", "-q", "--no-pager", f"--output-fields={FIELDS}")
MATCHES = ("_TRANSPORT=kernel", "+", "_SYSTEMD_UNIT=nvidia-fabricmanager.service")
LONGEST = 1 << 20
"""Bytes of one object; a longer one ends the child, and a new one goes on behind it."""
PARTING = 2.0
FIRST_WAIT = 0.5
"""Seconds in which a new child has its first lines ready: a single visit waits for them."""


class Journal:
    """One child and what it wrote."""

    def __init__(self, cursor: Any, most_lines: int) -> None:
        self._place = cursor["after"] if _usable(cursor) else ""
        self._held: deque[str] = deque(maxlen=most_lines)
        self._came = 0
        self._taken = 0
        self._child: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    async def lines(self) -> list[str]:
        """Return the objects that came since the last call; starts the child where none runs.

        Raises:
            SourceUnavailable: there is no journalctl, or it ended; the message says why.
        """
        if self._child is None:
            await self._start()
            await asyncio.sleep(FIRST_WAIT)
        found = list(self._held)
        self._held.clear()
        if not found and self._reader is not None and self._reader.done():
            await self._ended()
        return found

    def lost(self) -> int:
        """Return how many lines did not fit into what is held."""
        lost = max(self._came - self._taken - (self._held.maxlen or 0), 0)
        self._taken = self._came
        return lost

    def reached(self, cursor: str) -> None:
        """Remember the journal's cursor of the last line that was used."""
        self._place = cursor

    def cursor(self) -> dict[str, Any]:
        """Return the journal's cursor."""
        return {"after": self._place}

    async def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is not None and child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PARTING):
                    await child.wait()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
            self._reader = None

    async def _start(self) -> None:
        where = ("--after-cursor", self._place, "-n", "all") if self._place else ("-b", "-n", "all")
        try:
            self._child = await asyncio.create_subprocess_exec(
                "journalctl", *ARGUMENTS, *where, *MATCHES,
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE, limit=LONGEST,
            )  # fmt: skip
        except OSError as wrong:
            raise SourceUnavailable(
                f"journalctl cannot be started ({wrong.strerror}); read /dev/kmsg or a file instead"
            ) from None
        self._reader = asyncio.create_task(self._follow(self._child))

    async def _follow(self, child: asyncio.subprocess.Process) -> None:
        assert child.stdout is not None  # noqa: S101 - asked for as a pipe above
        try:
            while line := await child.stdout.readline():
                self._came += 1
                self._held.append(line.decode("utf-8", "replace"))
        except ValueError:  # a line without an end
            return

    async def _ended(self) -> None:
        """Say why the child ended; the next visit starts another."""
        child = self._child
        text = b""
        if child is not None and child.stderr is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PARTING):
                    text = await child.stderr.read(2000)
        await self.close()
        first = (text.decode("utf-8", "replace").strip().splitlines() or ["no message"])[0]
        raise SourceUnavailable(
            f"journalctl ended ({first[:200]}); may this user read the journal?"
        )


def _usable(cursor: Any) -> bool:
    return (
        isinstance(cursor, dict)
        and isinstance(cursor.get("after"), str)
        and 0 < len(cursor["after"]) < 1000
        and not cursor["after"].startswith("-")
    )
