"""Slurm's drain: `scontrol update NodeName=NAME State=DRAIN Reason=..` (its scontrol(1)).

A drained node takes no new job; those that run on it end by themselves, so that jobs do not forbid
it. A node that somebody drained already is left as it is, and only what still bears our reason is
resumed.
"""

import asyncio
import os
import re
import signal
from collections.abc import Iterable

from fabrichealth.remediation.order import Candidate, Order, order_of
from fabrichealth.remediation.remediator import (
    LeftAlone,
    NoAnswer,
    Remediator,
    RemedyFailed,
    RemedySettings,
)
from fabrichealth.settings import Duration, seconds

LONGEST = 120
"""Letters of a reason."""

SAID = 200

UNKNOWN = " not found"
"""How `scontrol show node` ends where Slurm has no such node."""


class SlurmSettings(RemedySettings):
    """How Slurm's command is run."""

    command: str = "scontrol"
    """Name or path; the daemon's user must be a Slurm operator."""
    timeout: Duration = seconds(10)
    """It is ended after so long."""


class SlurmDrain(Remediator[SlurmSettings]):
    """Drains nodes by Slurm's own command."""

    settings_type = SlurmSettings

    @property
    def name(self) -> str:
        """Who it is."""
        return f"slurm_drain {self.settings.command}"

    def orders(self, candidate: Candidate) -> Iterable[Order]:
        """Yield the hosts of the culprit that may be closed to new jobs now."""
        for node in candidate.nodes:
            if node.safe_for_new and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", node.name):
                yield order_of(candidate, node.because, node.name)

    def says(self, order: Order) -> str:
        """Return the command."""
        return " ".join([self.settings.command, *_drain(order)])

    def says_undo(self, order: Order) -> str:
        """Return the command."""
        return " ".join([self.settings.command, *_resume(order)])

    async def apply(self, order: Order) -> None:
        """Drain the node, unless somebody did."""
        state, reason = await self._node(order.node)
        if "DRAIN" in state and not reason.startswith(_ours(order)):
            raise LeftAlone(f"{order.node} is drained already by somebody ({reason}); left so")
        if "DRAIN" not in state:
            await self._run(*_drain(order))

    async def undo(self, order: Order) -> None:
        """Resume the node, if it is still drained for our reason."""
        try:
            state, reason = await self._node(order.node)
        except RemedyFailed as wrong:
            if UNKNOWN in f"{wrong}":  # it was removed from Slurm meanwhile
                return
            raise
        if "DRAIN" in state and reason.startswith(_ours(order)):
            await self._run(*_resume(order))

    async def _node(self, name: str) -> tuple[str, str]:
        """Return state and reason of a node."""
        text = await self._run("-o", "show", "node", name)
        state = re.search(r"\bState=(\S+)", text)
        if state is None:
            raise RemedyFailed(f"{self.settings.command} tells no state of {name}; is it a node?")
        reason = re.search(r"\bReason=(.*?)(?: \[\S+@\S+\])?\s*$", text, re.MULTILINE)
        return state[1], reason[1] if reason else ""

    async def _run(self, *words: str) -> str:
        """Return what the command prints.

        Raises:
            RemedyFailed: it cannot be run, fails, or takes too long.
        """
        command, pipe = self.settings.command, asyncio.subprocess.PIPE
        try:
            child = await asyncio.create_subprocess_exec(
                command, *words, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe,
                start_new_session=True,
            )  # fmt: skip
        except OSError as wrong:
            raise RemedyFailed(f"{command}: cannot be run ({wrong.strerror}); check it") from None
        try:
            async with asyncio.timeout(self.settings.timeout):
                out, err = await child.communicate()
        except TimeoutError:
            raise NoAnswer(
                f"{command} {words[0]}: not done within {self.settings.timeout:g} s"
            ) from None
        finally:
            if child.returncode is None:
                # a wrapper's own children too: they hold what it prints open
                os.killpg(child.pid, signal.SIGKILL)
                await child.wait()
        if child.returncode:
            # of a node that is not there it speaks on its standard output
            said = " ".join((err or out).decode("utf-8", "replace").split())[:SAID]
            raise RemedyFailed(f"{command} {words[0]}: ends with {child.returncode} ({said})")
        return out.decode("utf-8", "replace")


def _ours(order: Order) -> str:
    return f"fabrichealth {order.incident} "


def _drain(order: Order) -> tuple[str, ...]:
    why = "".join(letter if letter.isprintable() else " " for letter in order.because)
    reason = f"{_ours(order)}{order.kind}: {why}"[:LONGEST].rstrip()
    return "update", f"NodeName={order.node}", "State=DRAIN", f"Reason={reason}"


def _resume(order: Order) -> tuple[str, ...]:
    return "update", f"NodeName={order.node}", "State=RESUME"
