"""Names that came from outside, as names of ours (contract 1).

A device's name holds no `/`, no name holds `--`, and none holds what does not print: a line break
or an escape sequence of a terminal has no place in a label.
"""


def device_name(said: str) -> str:
    """Return what a reply calls a device as a device's name."""
    return port_name(said).replace("/", "_")


def port_name(said: str) -> str:
    """Return what a reply calls a port as a port's name."""
    if not said.isprintable():
        said = "".join(one if one.isprintable() else "_" for one in said.strip())
    return said.replace("--", "_")
