"""The judging child of `run`, seen from its parent: started, heard, started again."""

import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from fabrichealth.runtime.clock import Clock

log = logging.getLogger("judging")

RESTART_DELAY = 5.0
"""Seconds before a child that ended by itself is started again."""

PATIENCE = 5.0
"""Seconds that a child has to end after its standard input was closed."""

LONGEST_LINE = 2**28
"""Bytes: one line holds the verdicts of a pass, three series for each of 100,000 link ends."""


class JudgeChild:
    """Keeps one judging process alive and hands on each JSON line that it says."""

    def __init__(self, state: Path, clock: Clock, hear: Callable[[dict[str, Any]], None]) -> None:
        self._words = [sys.executable, "-m", "fabrichealth.cli._judging", str(state)]
        self._words += ["--speed", repr(clock.speed), "--origin", repr(clock.origin)]
        self._hear = hear
        self._child: asyncio.subprocess.Process | None = None
        self._replaced = False

    async def run(self) -> None:
        """Judge until cancelled."""
        while True:
            try:
                await self._once()
            except OSError as wrong:
                log.error("cannot be started: %s", wrong)
            except (ValueError, KeyError, TypeError):
                log.exception("said something that is not understood")
            if self._replaced:
                self._replaced = False
                continue
            log.warning("ended; starting it again in %g s", RESTART_DELAY)
            await asyncio.sleep(RESTART_DELAY)

    def replace(self) -> None:
        """End the present child, so that one that reads what was written since follows."""
        if self._child is not None and self._child.stdin is not None:
            self._replaced = True
            self._child.stdin.close()

    async def _once(self) -> None:
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_exec(
            *self._words, stdin=pipe, stdout=pipe, limit=LONGEST_LINE
        )
        self._child = child
        try:
            while child.stdout is not None and (line := await child.stdout.readline()):
                self._hear(orjson.loads(line))
            await child.wait()
        finally:
            self._child = None
            if child.returncode is None:
                if child.stdin is not None:
                    child.stdin.close()  # the child ends by itself then
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(child.wait(), PATIENCE)
                if child.returncode is None:
                    child.kill()
                    await child.wait()
