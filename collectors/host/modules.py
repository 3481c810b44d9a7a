"""The pluggable modules of a host's interfaces, read page by page from the running kernel.

A page costs 5 to 15 ms on the module's bus, so modules are read seldom, and only the pages that
they advertise. Reading clears latched flags: this must be the only reader of them. Without
CAP_NET_ADMIN the kernel says EPERM, which is said once; everything else goes on.
"""

from dataclasses import dataclass, field
from errno import EACCES, EINVAL, EOPNOTSUPP, EPERM
from typing import Protocol

from collectors.host.ports import HostPort
from collectors.maps import modules
from collectors.maps.columns import Columns
from collectors.protocols import module, module_cmis, module_sff8472, module_sff8636, netlink
from collectors.protocols.module import Memory, Module
from fabrichealth.errors import MalformedReply
from fabrichealth.model import Reason

METRICS = modules.METRICS
DIAGNOSTICS = 0x51
"""I2C address of an SFP's A2h as the kernel counts addresses (7 bits)."""
FOR_LONG = {EPERM, EACCES, EOPNOTSUPP, EINVAL}


class Pages(Protocol):
    """All this needs of the kernel; refusals are `OSError` with their errno."""

    def module_page(
        self, interface: str, page: int, *, upper: bool, bank: int = 0, address: int = 0x50
    ) -> bytes:
        """Return half a page, 128 bytes."""
        ...

    def module_image(self, interface: str) -> bytes:
        """Return the memory as one image, from kernels that know no pages."""
        ...


@dataclass(slots=True)
class HostModules:
    """Reads modules, each at its period."""

    kernel: Pages
    period: float
    retry: float
    """Seconds for which a module that cannot be read is left alone."""
    _next: dict[str, float] = field(default_factory=dict)

    def read(self, port: HostPort, at: float, columns: Columns) -> None:
        """Read the module of one interface, if it is due."""
        name = port.interface
        if not self.period or self._next.get(name, 0.0) > at:
            return
        self._next[name] = at + self.period
        try:
            found = self._decoded(name)
        except OSError as wrong:
            number = wrong.errno or 0
            if number in FOR_LONG:
                self._next[name] = at + self.retry
            reason = Reason.UNSUPPORTED if number == EOPNOTSUPP else Reason.FAILED
            said = netlink.error_name(number) if number else str(wrong)
            columns.refuse(reason, "module", port.labels, said)
        except MalformedReply as wrong:
            columns.refuse(Reason.MALFORMED, "module", port.labels, str(wrong))
        else:
            columns.take_all(port.device, port.port, modules.readings(found))

    def _decoded(self, name: str) -> Module:
        try:
            lower = self.kernel.module_page(name, 0, upper=False)
        except OSError as wrong:
            if wrong.errno != EOPNOTSUPP:
                raise
            return _from_image(self.kernel.module_image(name))
        standard = module.identified(lower[0])
        memory = Memory(lower, {"00": self.kernel.module_page(name, 0, upper=True)})
        if standard == module.SFP:
            a2 = b""
            if memory.bit("", 92, 6):  # diagnostics implemented
                a2 = self.kernel.module_page(name, 0, upper=False, address=DIAGNOSTICS)
            return module_sff8472.decode(lower + memory.pages["00"], a2)
        if standard == module.QSFP:
            flat = memory.bit("", 2, 2)
            return module_sff8636.decode(self._with(name, memory, () if flat else (0x03,)))
        if memory.bit("", 2, 7):
            return module_cmis.decode(memory)
        memory = self._with(name, memory, (0x01, 0x02, 0x11))
        for bank in range(1, module_cmis.banks(memory)):
            memory = self._with(name, memory, (0x11,), bank)
        return module_cmis.decode(memory)

    def _with(self, name: str, memory: Memory, pages: tuple[int, ...], bank: int = 0) -> Memory:
        """Return the memory with further pages."""
        halves = dict(memory.pages)
        for page in pages:
            key = f"{bank}:{page:02x}" if bank else f"{page:02x}"
            halves[key] = self.kernel.module_page(name, page, upper=True, bank=bank)
        return Memory(memory.lower, halves)


def _from_image(whole: bytes) -> Module:
    memory = module.image(whole)
    standard = module.identified(whole[0])
    if standard == module.SFP:
        return module_sff8472.decode(whole[:256], whole[256:512])
    decode = module_sff8636.decode if standard == module.QSFP else module_cmis.decode
    return decode(memory)
