"""Calls that may block for ever (a driver that hangs), each in a daemon thread of its own."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


def started(name: str, work: Callable[[], Result]) -> "Future[Result]":
    """Start a call; a thread that never comes back does not hold the process at its end."""
    done: Future[Result] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as wrong:  # noqa: BLE001 - for whoever waits for the call
            done.set_exception(wrong)

    Thread(target=run, name=name, daemon=True).start()
    return done
