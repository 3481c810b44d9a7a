"""One reader at a time for what is cleared by reading: the latched flags of optical modules.

A claim is a name in the kernel's abstract socket space: it lies in no folder, ends with its
process whatever happens, and is seen just where the interface is, in one network namespace.
"""

import socket
import sys
from dataclasses import dataclass, field

PREFIX = "fabrichealth.module."


@dataclass(slots=True)
class OneReader:
    """The claims of one target."""

    prefix: str = PREFIX
    """What the names begin with; claims under another prefix are others."""
    _held: dict[str, socket.socket] = field(default_factory=dict)

    def claim(self, name: str) -> bool:
        """Claim the module of an interface until `close`; False if somebody else has it."""
        if name in self._held or not sys.platform.startswith("linux"):
            return True
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            holder.bind(f"\0{self.prefix}{name}")
        except OSError:
            holder.close()
            return False
        self._held[name] = holder
        return True

    def close(self) -> None:
        """Give up every claim."""
        for holder in self._held.values():
            holder.close()
        self._held.clear()
