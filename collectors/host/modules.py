"""The pluggable modules of a host's interfaces, read page by page from the running kernel.

A page costs 5 to 15 ms on the module's bus, so modules are read seldom, and only the pages that
they advertise. Reading clears latched flags: this must be the only reader of them. Without
CAP_NET_ADMIN the kernel says EPERM, which is said once; everything else goes on.
"""

from dataclasses import dataclass, field
from errno import EACCES, EINVAL, EOPNOTSUPP, EPERM

from collectors.host.ports import HostPort
from collectors.maps.columns import Columns
from collectors.optics import columns as optics
from collectors.optics.columns import Cage, ModuleColumns
from collectors.optics.reading import ModuleReader, Seen
from collectors.protocols import netlink
from collectors.transports.one_reader import OneReader
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Reason

METRICS = optics.METRICS
TAKEN = "another target or process reads it, and its flags clear by reading; let one read it"
FOR_LONG = {EPERM, EACCES, EOPNOTSUPP, EINVAL}


@dataclass(slots=True)
class HostModules:
    """Reads modules, each at its period."""

    reader: ModuleReader
    modules: ModuleColumns
    period: float
    retry: float
    """Seconds for which a module that cannot be read is left alone."""
    alone: OneReader = field(default_factory=OneReader)
    last: dict[str, Seen] = field(default_factory=dict)
    """What the last visit gave, by interface."""
    _next: dict[str, float] = field(default_factory=dict)

    def read(self, port: HostPort, at: float, columns: Columns) -> None:
        """Read the module of one interface, if it is due."""
        name = port.interface
        if not self.period or self._next.get(name, 0.0) > at:
            return
        self._next[name] = at + self.period
        self.last.pop(name, None)
        if not self.alone.claim(name):
            self._next[name] = at + self.retry
            columns.refuse(Reason.FAILED, "module", port.labels, TAKEN)
            return
        try:
            seen = self.reader.read(name, at)
        except OSError as wrong:
            number = wrong.errno or 0
            if number in FOR_LONG:
                self._next[name] = at + self.retry
            reason = Reason.UNSUPPORTED if number == EOPNOTSUPP else Reason.FAILED
            columns.refuse(reason, "module", port.labels, _said(wrong))
        except MalformedReply as wrong:
            columns.refuse(Reason.MALFORMED, "module", port.labels, str(wrong))
        else:
            self.last[name] = seen
            self.modules.take([Cage(port.device, port.port, seen.memory)], columns)
            for page, failure in seen.failed.items():
                if isinstance(failure, MalformedReply):
                    columns.refuse(Reason.MALFORMED, f"page {page}h", port.labels, str(failure))
                else:
                    columns.refuse(Reason.FAILED, f"page {page}h", port.labels, _said(failure))

    def close(self) -> None:
        """Let others read the modules."""
        self.alone.close()


def _said(wrong: OSError) -> str:
    return netlink.error_name(wrong.errno) if wrong.errno else str(wrong)
