"""What faces a host's ports: lldpd's table, asked through lldpcli and read from its captures."""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from collectors.host.ports import Naming
from collectors.maps import lldp
from collectors.maps.columns import Columns
from collectors.maps.lldp import Heard
from collectors.protocols import lldpcli
from collectors.protocols.lldpcli import Neighbors
from collectors.source import Target
from collectors.transports.process import run
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Neighbor, Reason

TOOL = "lldpcli"


@dataclass(slots=True)
class HostNeighbors:
    """Asks lldpd now and then; where there is none nothing is missed."""

    target: Target
    period: float
    retry: float
    socket: str = ""
    """Where lldpd listens, if elsewhere than usual."""
    _due: float = float("-inf")

    async def ask(self, at: float, within: float, columns: Columns) -> Neighbors:
        """Return what is heard now, if it is time to ask; a refusal if lldpd does not answer."""
        tool = shutil.which(TOOL)
        if not self.period or at < self._due or tool is None:
            return Neighbors()
        where = ("-u", self.socket) if self.socket else ()
        try:
            output = await run((tool, *where, "-f", "json0", "show", "neighbors"), within)
        except SourceUnavailable as wrong:
            why = str(wrong)
        else:
            found = parsed(output.stdout)
            if found is not None and not output.late:
                self._due = at + self.period
                return found
            why = output.complaint
        self._due = at + self.retry
        columns.refuse(Reason.FAILED, TOOL, {"device": self.target.subject}, why)
        return Neighbors()


def parsed(text: str) -> Neighbors | None:
    """Return the neighbours in lldpcli's JSON, None where it is something else."""
    try:
        return lldpcli.neighbors(json.loads(text))
    except (ValueError, RecursionError):
        return None


def of_ports(
    said: Neighbors, target: Target, naming: Naming, ports: Mapping[str, tuple[str, str]]
) -> Iterator[Neighbor]:
    """Yield neighbours of interfaces; `ports` has (device, port) of those known by other names."""
    for entry in said.entries:
        device, port = ports.get(entry.interface, (naming.subject, entry.interface))
        heard = Heard(entry.system, entry.chassis, entry.port, entry.port_is_mac)
        found = lldp.neighbor(target, device, port, heard)
        if found is not None:
            yield found
