"""systemd: telling the service manager that we are ready, reloading or stopping (sd_notify(3))."""

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
