"""How this machine is called when it is its own target."""

import socket


def host_name() -> str:
    """Return the host's own name, fit to be a device's."""
    name = socket.gethostname().partition(".")[0]
    return name.replace("/", "_").replace("--", "-") or "localhost"
