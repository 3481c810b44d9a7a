"""systemd: telling the service manager that we are ready, alive, reloading or stopping.

sd_notify(3) and sd_watchdog_enabled(3), without their library.
"""

import os
import socket
import time


def notify(state: str) -> bool:
    """Send a state (`READY=1`, `STOPPING=1`, `STATUS=..`); return whether a manager listens.

    The socket is a path, or an abstract name that begins with @.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return False
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
            channel.settimeout(1.0)
            channel.connect(address)
            channel.send(state.encode())
    except OSError:
        return False
    return True


def reloading() -> str:
    """Return the message that a reload began, with the time that systemd wants beside it."""
    return f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}"


def watched() -> float | None:
    """Return within how many seconds a sign of life (`WATCHDOG=1`) is wanted, None if none is."""
    span = os.environ.get("WATCHDOG_USEC", "")
    whom = os.environ.get("WATCHDOG_PID", "")
    if not span.isdecimal() or int(span) == 0 or whom not in ("", str(os.getpid())):
        return None
    return int(span) / 1e6
