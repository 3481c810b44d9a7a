"""Progress of work that takes minutes: a bar on stderr, and only where stderr is a terminal.

Drawn when the work says how far it is, without a thread: work that forks may show one.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fabrichealth.cli import _terminal

AGAIN = 0.2
"""Seconds between two drawings."""

Far = Callable[[float], None]
"""Called with how much of the total is done."""


def _nobody_looks(done: float) -> None:
    pass


@contextmanager
def progress(what: str, total: float) -> Iterator[Far]:
    """Show how far work is; yields what to call with how much of `total` is done."""
    if not sys.stderr.isatty() or os.environ.get("TERM", "dumb") in {"dumb", "unknown"}:
        yield _nobody_looks
        return
    from rich.console import Console  # noqa: PLC0415 - only where a person looks
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    bar = Progress(
        *columns,
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    task = bar.add_task(_terminal.cell(what), total=total)
    drawn = 0.0

    def far(done: float) -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - drawn >= AGAIN:
            drawn = now
            bar.update(task, completed=done)
            bar.refresh()

    @contextmanager
    def away() -> Iterator[None]:
        bar.stop()
        try:
            yield
        finally:
            bar.start()

    with bar, _terminal.giving_way(away):
        bar.refresh()
        yield far
