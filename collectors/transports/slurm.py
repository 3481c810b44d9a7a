"""Slurm's own commands, run on a host that may ask the controller; nothing is ever changed.

Lists are asked for as a whole, never job by job. Versions before 23.02 know no `scontrol --json`;
there `sinfo --json` lists the nodes.
"""

from collections.abc import Sequence
from pathlib import Path

from collectors.transports.process import Output, run

QUEUE = ("squeue", "--json")
NODES = (("scontrol", "show", "nodes", "--json"), ("sinfo", "--json"))


class SlurmCommands:
    """The commands of one cluster, and which of them its version understands.

    They are looked for in a folder, else on the path.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._nodes = 0

    async def jobs(self, within: float) -> Output:
        """Return what squeue printed.

        Raises:
            SourceUnavailable: there is no such command, or it may not be run.
        """
        return await self._run(QUEUE, within)

    async def nodes(self, within: float) -> Output:
        """Return what the first command that lists nodes printed, each given half the seconds.

        Raises:
            SourceUnavailable: there is no such command, or it may not be run.
        """
        output = await self._run(NODES[self._nodes], within / 2)
        if output.late or output.stdout.strip():
            return output
        second = await self._run(NODES[1 - self._nodes], within / 2)
        if second.stdout.strip():
            self._nodes = 1 - self._nodes
            return second
        return output

    async def _run(self, words: Sequence[str], within: float) -> Output:
        command, *options = words
        return await run(
            [str(self._folder / command) if self._folder else command, *options], within
        )
