"""Show commands: how often each is asked, and which of them this device does not have.

All commands that are due go in one request. One that fails ends the list, so those behind it are
asked for again without it; what the device does not know is left out for a while.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from collectors.protocols.eapi import Answer, Failure, Result
from collectors.trees.pace import Pace
from fabrichealth.errors import SourceUnavailable

COUNTERS = (
    "show interfaces",
    "show interfaces counters errors",
    "show priority-flow-control counters detail",
    "show priority-flow-control counters watchdog",
    "show interfaces counters queue detail",
    "show qos interfaces ecn counters queue",
)
STATES = ("show interfaces status",)
MODULES = ("show interfaces transceiver dom thresholds", "show interfaces transceiver detail")
PHYS = ("show interfaces phy detail",)
NEIGHBORS = ("show lldp neighbors detail", "show version")

Ask = Callable[[list[str]], Awaitable[Answer]]
"""Runs commands on the device."""


@dataclass(slots=True)
class Round:
    """What one visit brought: results by command, and why others have none."""

    results: dict[str, Result] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)


@dataclass(slots=True)
class Commands:
    """The commands of one device; outlives visits."""

    periods: dict[str, float]
    """How many seconds lie between two readings of each command; 0 for every visit."""
    pace: Pace
    _apart: bool = False
    """Whether what is asked at its own pace has been too slow."""

    def due(self, at: float, slack: float) -> list[str]:
        """Return the commands to ask at `at` (unix seconds), up to `slack` seconds early."""
        return [
            command
            for command, period in self.periods.items()
            if self.pace.due(command, period, at, slack)
        ]

    async def run(self, at: float, slack: float, ask: Ask, seconds: float) -> Round:
        """Ask what is due; each command once, however many others fail.

        Commands that were too slow for the time that a visit has are asked apart from the next
        visit on, so that they take no other's answer along.

        Raises:
            TimeoutError: nothing came within so many seconds.
            SourceUnavailable: nothing came, for another reason.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        found = Round()
        due = self.due(at, slack)
        slow = [command for command in due if self.periods[command]] if self._apart else []
        groups = [[command for command in due if command not in slow], slow]
        for left in filter(None, groups):
            try:
                async with asyncio.timeout_at(deadline):
                    await self._group(left, at, ask, found)
            except (TimeoutError, SourceUnavailable) as wrong:
                self._apart = self._apart or isinstance(wrong, TimeoutError)
                if not found.results and not found.failures:
                    raise
                late = Failure(0, "no answer in time")
                known = found.results.keys() | found.failures.keys()
                found.failures |= {one: late for one in left if one not in known}
        return found

    async def _group(self, left: list[str], at: float, ask: Ask, found: Round) -> None:
        """Ask for some commands at once, and for those behind one that fails again."""
        while left:
            answer = await ask(left)
            done = min(len(answer.results), len(left))
            for command, result in zip(left, answer.results, strict=False):
                found.results[command] = result
                self.pace.read(command, at)
                self.pace.has(command)
            if done == len(left):
                return
            failed = left[done]
            failure = answer.failure or Failure(0, "the answer ends before it")
            found.failures[failed] = failure
            self.pace.read(failed, at)
            if failure.unsupported:
                self.pace.lacks(failed, at)
            left = left[done + 1 :]


def periods(
    modules: float, phys: float, neighbors: float, more: tuple[str, ...]
) -> dict[str, float]:
    """Return how often each command is asked, in seconds."""
    return {
        **dict.fromkeys((*COUNTERS, *STATES, *more), 0.0),
        **dict.fromkeys(MODULES, modules),
        **dict.fromkeys(PHYS, phys),
        **dict.fromkeys(NEIGHBORS, neighbors),
    }
