"""One visit to a target, or one look at captures: whatever goes wrong in it is one line.

The poller, `read` and `check --probe` make the same visit, so what one of them sees the others
see too.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from collectors.intake import Bounds, checked
from collectors.source import Source
from fabrichealth.errors import FabricHealthError, SourceUnavailable
from fabrichealth.model import Poll
from fabrichealth.runtime.clock import Clock


async def visited(source: Source, bounds: Bounds, clock: Clock, at: float) -> Poll:
    """Read a target once at `at` (unix seconds); return what can be believed of it.

    Raises:
        SourceUnavailable: it did not answer in time, or not usably, or the source has a fault,
            which is then the error's cause.
    """
    name, settings = source.target.name, source.settings
    try:
        async with asyncio.timeout(settings.timeout / clock.speed):
            raw = await source.read(at)
        return checked(raw, bounds, source.table, clock.now(), settings.stale_after)
    except TimeoutError:
        raise SourceUnavailable(
            f"{name}: no answer within {settings.timeout:g} s; is it up, or is timeout: too short?"
        ) from None
    except SourceUnavailable:
        raise
    except FabricHealthError as wrong:
        raise SourceUnavailable(str(wrong)) from None
    except asyncio.CancelledError as wrong:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # somebody stops us; else the source has lost a task of its own
        raise SourceUnavailable(f"{name}: fault of the source: a task of it ended") from wrong
    except Exception as wrong:
        raise SourceUnavailable(
            f"{name}: fault of the source: {type(wrong).__name__}: {_one_line(wrong)}"
        ) from wrong


@contextmanager
def guarded(files: Sequence[Path]) -> Iterator[None]:
    """Turn whatever goes wrong with the captures of one poll into one line with the first's name.

    Raises:
        SourceUnavailable: they cannot be read, or the source has a fault, which is then the cause.
    """
    try:
        yield
    except SourceUnavailable:
        raise
    except FabricHealthError as wrong:
        raise SourceUnavailable(str(wrong)) from None
    except OSError as wrong:
        raise SourceUnavailable(f"{files[0]}: cannot be read ({wrong.strerror})") from None
    except Exception as wrong:
        raise SourceUnavailable(
            f"{files[0]}: fault of the source: {type(wrong).__name__}: {_one_line(wrong)}"
        ) from wrong


def _one_line(wrong: Exception) -> str:
    return " ".join(str(wrong).split()) or "no message"
