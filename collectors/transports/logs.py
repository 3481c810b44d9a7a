"""Where live log lines come from: what every reader of a log gives and remembers."""

from typing import Any, Protocol


class LogReader(Protocol):
    """One log that grows."""

    async def lines(self) -> list[str]:
        """Return what came since the last call, at most a bounded amount; never waits for more.

        Raises:
            OSError: the log cannot be read; the message says why.
            SourceUnavailable: likewise, with what to do.
        """
        ...

    def lost(self) -> int:
        """Return how many lines were lost since the last call, as far as that is known."""
        ...

    def cursor(self) -> dict[str, Any]:
        """Return the place reached, as plain JSON values."""
        ...

    async def close(self) -> None:
        """Let go of files, children and sockets."""
        ...
