"""What a log's lines say of which device: counters and events, under the inventory's names."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from collectors.logs.counts import LogCounts
from collectors.logs.quota import Quota
from collectors.maps.accelerator_names import accelerator, whole_pci
from collectors.maps.log_rules import Hit, matched
from collectors.maps.names import device_name, port_name
from collectors.protocols.log_line import KERNEL, Line
from collectors.source import Target
from fabrichealth.events import Event

MOST_PARTS = 64
"""Accelerators and NVSwitches of one listed host that the topology does not name."""

LONGEST_TEXT = 400
"""Characters of a line that an event keeps."""

_IDENTITY = re.compile(
    r"NVRM: GPU (?:at|\d{1,3}) (?:PCI:)?([0-9a-fA-F:.]{7,16}): (GPU-[\w-]{8,64})"
)


@dataclass(slots=True)
class LogWatch:
    """Turns lines into counts and events; outlives polls."""

    target: Target
    counts: LogCounts
    quota: Quota
    many: bool = False
    """Whether the log is of many hosts, which are then named by their lines."""
    strange: int = 0
    """Lines that were not counted, because their device or code was one too many."""
    misdated: int = 0
    """Lines that say something on a day that does not exist."""
    _parts: dict[str, set[str]] = field(default_factory=dict)
    _uuids: dict[tuple[str, str], str] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def begin(self, accelerators: Mapping[str, str]) -> None:
        """Begin the counters of the host and of its accelerators, UUID (or nothing) by address."""
        host = self.host("")
        self.counts.meet(host, "host")
        for address, uuid in accelerators.items():
            if uuid:
                self._uuids[host, whole_pci(address)] = uuid
            self.counts.meet(self._accelerator(host, address), "accelerator")

    def hear(self, lines: Iterable[Line], at: float, boot: float | None) -> list[Event]:
        """Count lines and return the events that may be told.

        `boot` is when the host booted, for lines that know no other time.
        """
        events: list[Event] = []
        hosts: set[str] = set()
        for line in lines:
            if line.host not in hosts:
                hosts.add(line.host)
                host = self.host(line.host)
                if self._listed(host):
                    self.counts.meet(host, "host")
            hit = matched(line.text, line.speaker)
            if hit is None:
                if line.speaker == KERNEL and line.text.startswith("NVRM: GPU"):
                    self._learn(line)
                continue
            if line.misdated:
                self.misdated += 1
                continue
            host = self.host(line.host)
            device = self._device(host, hit)
            listed = self._known(host, device)
            if listed:
                self.counts.meet(device, hit.of)
            if not self.counts.add(device, hit.of, hit.code, at):
                self.strange += 1
                continue
            event = _event(line, hit, device, at, boot)
            if self.quota.admits(device, hit.code, event, listed=listed):
                events.append(event)
        return events

    def host(self, said: str) -> str:
        """Return the inventory's name for the host that a line names."""
        subject = self.target.subject
        if not said:
            return device_name(subject)
        found = self._names.get(said)
        if found is None:
            own = self.target.topology.named(said)
            if len(self._names) > 100_000:
                self._names.clear()  # nobody has so many hosts: the names are made up
            found = self._names[said] = own or device_name(said if self.many else subject)
        return found

    def _listed(self, device: str) -> bool:
        """Return whether a device is the topology's, or all that this log can be about."""
        return not self.many or device in self.target.topology.devices

    def _known(self, host: str, device: str) -> bool:
        """Return whether a device is listed, or a part of a host that is."""
        if device == host or device in self.target.topology.devices:
            return self._listed(device)
        if not self._listed(host):
            return False
        parts = self._parts.setdefault(host, set())
        if device not in parts and len(parts) >= MOST_PARTS:
            return False
        parts.add(device)
        return True

    def _learn(self, line: Line) -> None:
        """Take the UUID that the driver tells with an address, and begin that accelerator."""
        found = _IDENTITY.match(line.text)
        if found:
            host = self.host(line.host)
            if self._known(host, accelerator(self.target.topology, host, pci=found[1])):
                self._uuids[host, whole_pci(found[1])] = found[2]
                self.counts.meet(self._accelerator(host, found[1]), "accelerator")

    def _device(self, host: str, hit: Hit) -> str:
        if hit.of == "accelerator":
            return self._accelerator(host, hit.pci)
        if hit.of == "nvswitch":
            named = self.target.topology.named(whole_pci(hit.pci), host) if hit.pci else None
            return named or f"{host}-nvswitch{hit.switch}" if hit.switch else named or host
        if hit.pci:
            return self.target.topology.named(whole_pci(hit.pci), host) or host
        return host

    def _accelerator(self, host: str, address: str) -> str:
        """Return the name of an accelerator: the topology's, else host and PCI address."""
        pci = whole_pci(address)
        uuid = self._uuids.get((host, pci), "")
        return accelerator(self.target.topology, host, uuid=uuid, pci=pci)


def _event(line: Line, hit: Hit, device: str, at: float, boot: float | None) -> Event:
    when = line.at
    if when is None and line.since_boot is not None and boot is not None:
        when = boot + line.since_boot
    more: dict[str, object] = {"code": hit.code, "text": line.text[:LONGEST_TEXT]}
    if hit.fatal is not None:
        more["fatal"] = hit.fatal
    if hit.means:
        more["means"] = hit.means
    scope = {"device": device} | ({"port": port_name(hit.port)} if hit.port else {})
    # a host whose clock runs ahead told us before now all the same
    return Event(at if when is None else min(when, at), "device_log", scope, more=more)
