"""Switches, PDUs and coolers over SNMP v2c and v3: ports, sensors, neighbours; power and outlets.

What every agent has: IF-MIB with its 64-bit columns, EtherLike-MIB, IEEE8021-PFC-MIB,
ENTITY-SENSOR-MIB, LLDP-MIB. What a column means is data (`collectors/maps/snmp`); only those
columns are walked. Ports are known by ifName, whatever index an agent gives them after a restart.

PDUs and coolers tell of themselves in their vendors' MIBs: a profile says what those objects are
(`collectors/maps/snmp/devices`), and the sysObjectID which profile fits; `mapping` names another,
or a file of the site's own. Where no profile fits a card that manages such a device, that is told
with its sysObjectID.

Address: snmp://HOST[:PORT]. Version 2c: the secret is the community. Version 3: `user`, `auth`
(md5 sha sha224 sha256 sha384 sha512), `priv` (des aes aes192 aes256); the first line of the secret
is the passphrase for auth, the second that for priv, and a single line serves both.
Captures: `snmpwalk -On` text, or snmprec.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from collectors.captures import captured
from collectors.maps import snmp_rules
from collectors.maps.columns import Columns
from collectors.maps.names import device_name
from collectors.maps.places import Places
from collectors.protocols import snmprec
from collectors.protocols.snmp_columns import NONE, Recording
from collectors.protocols.snmprec import Value
from collectors.snmp import asking, interfaces, profiled, sensors
from collectors.snmp.asking import Exact, Part
from collectors.snmp.identified import Identified
from collectors.snmp.interfaces import Interfaces
from collectors.snmp.neighbors import Neighbors
from collectors.snmp.ports import Ports
from collectors.snmp.sensors import Sensors
from collectors.snmp.uptime import Uptime
from collectors.source import LOGIN, Source, SourceSettings, Target
from collectors.transports.snmp import SCHEMES, SnmpClient
from fabrichealth.catalogue.devices import BOOT_TIME
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, seconds

SYS_UPTIME = "1.3.6.1.2.1.1.3"


class SnmpSettings(SourceSettings):
    """Snmp section of the configuration."""

    period: Duration = seconds(30)
    """How often ports are read; agents of switches bear little more."""

    timeout: Duration = seconds(15)
    """Give up on one visit after this long; what came until then is kept."""

    answer: Duration = seconds(2)
    """How long one answer is waited for."""

    tries: int = Field(default=2, ge=1, le=10)
    """How often a question is asked before the agent counts as silent."""

    repetitions: int = Field(default=50, ge=1, le=1000)
    """Rows that one GETBULK asks for at most; fewer where answers get lost."""

    sensors: Duration = seconds(60)
    """How often modules and other sensors are read."""

    neighbors: Duration = seconds(60)
    """How often LLDP neighbours are read."""

    configuration: Duration = seconds(600)
    """How often it is read again what sensors there are, and asked for columns not there before."""

    management: str = r"(?i)(?:eth0|mgmt|management|oob|me|fxp|em)[-/.\d]*"
    """Ports (an expression of whole names) whose neighbours are of the management network."""

    @field_validator("management")
    @classmethod
    def _is_expression(cls, text: str) -> str:
        try:
            re.compile(text)
        except re.error as wrong:
            raise ValueError(f"{text!r} is not a regular expression ({wrong})") from None
        return text


class Snmp(Source):
    """One SNMP agent."""

    settings_type = SnmpSettings
    settings: SnmpSettings
    schemes = SCHEMES
    options = (*LOGIN, "version", "auth", "priv", "mapping")
    closest = 1.0  # agents answer from what they counted a second ago or more
    metrics = (
        *interfaces.metrics(snmp_rules.interfaces()),
        *sensors.metrics(snmp_rules.sensors()),
        *profiled.metrics(),
        BOOT_TIME,
    )

    def __init__(self, settings: SnmpSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._device = device_name(target.subject)
        known = snmp_rules.interfaces()
        self._uptime = Uptime()
        written = target.topology.devices.get(self._device)
        aliases = {facts.alias: port for port, facts in written.ports.items()} if written else {}
        self._ports = Ports(self._device, known, aliases)
        self._interfaces = Interfaces(
            table, self._device, known, self._ports, settings.configuration
        )
        self._sensors = Sensors(
            table, self._device, snmp_rules.sensors(), self._ports, settings.configuration
        )
        self._neighbors = Neighbors(
            target,
            self._device,
            snmp_rules.neighbors(),
            self._ports,
            re.compile(settings.management),
        )
        self._identified = Identified(table, Places(target), settings.configuration)
        self._due = {"sensors": 0.0, "neighbors": 0.0}
        self._client = (
            SnmpClient(target, settings.answer, settings.tries, settings.repetitions)
            if target.address
            else None
        )

    async def read(self, at: float) -> Poll:
        """Visit the agent once.

        Raises:
            SourceUnavailable: it did not answer.
        """
        if self._client is None:
            raise self.addressless
        columns = Columns(self.table)
        neighbors: list[Neighbor] = []
        deadline = asyncio.get_running_loop().time() + self.settings.patience
        answers = 0
        for name, part in self._parts(at, columns, neighbors):
            try:
                async with asyncio.timeout_at(deadline):
                    answers += await self._visit(self._client, name, part, columns)
            except (TimeoutError, SourceUnavailable) as wrong:
                if not answers and isinstance(wrong, SourceUnavailable):
                    raise
                columns.missing.append(name)
                self._due.update(dict.fromkeys(self._due.keys() & {name}, 0.0))
                break
        return self._checked(columns.poll(self.clock, at, neighbors), self._client, answers)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read one poll from the walks in these files.

        Raises:
            SourceUnavailable: none of them holds any variable of SNMP.
        """
        columns = Columns(self.table)
        neighbors: list[Neighbor] = []
        recording = Recording(self._recorded(files, columns))
        for _, part in self._parts(at, columns, neighbors, whole=True):
            asking.run(part, recording)
        return columns.poll(self.clock, at, neighbors)

    def memory(self) -> dict[str, Any]:
        """Return what the repair of wraps must remember, and when the device booted."""
        return {**self._interfaces.memory(), "boot": self._uptime.boot}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up what `memory` returned."""
        self._interfaces.remember(memory.get("wraps"), memory.get("widths"))
        boot = memory.get("boot")
        if isinstance(boot, int | float) and 0 <= boot < BOOT_TIME.valid[1]:
            self._uptime.boot = float(boot)

    async def close(self) -> None:
        """Let go of the socket."""
        if self._client is not None:
            await self._client.close()

    def _checked(self, poll: Poll, client: SnmpClient, answers: int) -> Poll:
        """Return a poll that tells something.

        Raises:
            SourceUnavailable: it tells nothing of a port, or of a PDU or cooler.
        """
        where = f"{self.target.name}: {client.where}"
        if not answers:
            raise SourceUnavailable(f"{where} answers with what is no SNMP; check the address")
        boots = self.table.find(BOOT_TIME, (self._device,))
        told = any((batch.series != boots).any() for batch in poll.batches)
        supplies = self._identified.supply is not None
        if told or any("port" in one.labels or supplies for one in poll.refused):
            return poll
        if poll.refused or poll.missing:
            why = str(poll.refused[0].raw) if poll.refused else "no whole answer in time"
            what = "its power or cooling" if supplies else "a port"
            raise SourceUnavailable(
                f"{where} gives nothing of {what} ({why}); is its agent well, and timeout: "
                "long enough?"
            )
        raise SourceUnavailable(
            f"{where} shows no ports; does the view of this community or user hold IF-MIB?"
        )

    def _parts(
        self, at: float, columns: Columns, neighbors: list[Neighbor], *, whole: bool = False
    ) -> Iterator[tuple[str, Part]]:
        """Yield the parts of a visit that are due, by name."""
        yield "uptime", self._booted(at, columns)
        what = self._identified
        yield "identity", what.read(at)
        if what.supply is None:
            yield "ports", self._ports.read(columns)
        if what.supply is None and what.fresh and not self._ports.named:
            yield "identity", what.by_objects()
            if what.supply is None:
                what.unknown(columns)
        if what.supply is not None:
            yield "supply", what.supply.read(at, columns)
            return
        uptime = self._uptime
        yield "counters", self._interfaces.read(at, uptime.clock(at), uptime.restarted, columns)
        if whole or self._is_due("sensors", at, self.settings.sensors):
            yield "sensors", self._sensors.read(at, columns)
        if whole or self._is_due("neighbors", at, self.settings.neighbors):
            yield "neighbors", self._neighbors.read(columns, neighbors)

    def _is_due(self, name: str, at: float, period: float) -> bool:
        """Return whether it is time; a poll that comes a little early is not one too few."""
        if at + self.settings.slack < self._due[name]:
            return False
        self._due[name] = at + period
        return True

    def _booted(self, at: float, columns: Columns) -> Part:
        """Read since when the agent runs."""
        answer = (yield (SYS_UPTIME,)).get(SYS_UPTIME, NONE)
        ticks = answer.values[0] if answer.values else None
        self._uptime.restarted = False
        if isinstance(ticks, int) and 0 <= ticks < 1 << 32:
            self._uptime.take(ticks, at)
            if self._uptime.boot is not None:
                columns.take(BOOT_TIME, (self._device,), self._uptime.boot)
        elif ticks is not None:
            columns.refuse(Reason.MALFORMED, "sysUpTime", {"device": self._device}, str(ticks)[:60])

    async def _visit(self, client: SnmpClient, name: str, part: Part, columns: Columns) -> int:
        """Answer what a part asks; return how many answers there were."""
        answers, refused = 0, len(columns.refused)
        try:
            asked = next(part)
            while True:
                wrong: dict[str, str] = {}
                if isinstance(asked, Exact):
                    found = await client.variables(asked)
                else:
                    found, wrong = await client.columns(asked)
                for oid, why in wrong.items():
                    columns.refuse(Reason.MALFORMED, oid, {"device": self._device}, why)
                answers += len(found)
                asked = part.send(found)
        except StopIteration:
            # what is not of one port alone is a whole column
            fresh = columns.refused[refused:]
            if any(one.reason is Reason.MALFORMED and "port" not in one.labels for one in fresh):
                columns.missing.append(name)
            return answers

    def _recorded(self, files: list[Path], columns: Columns) -> dict[str, Value]:
        """Return the variables of all files that are walks."""
        found: dict[str, Value] = {}
        why = "there is no file"
        for file in captured(files):
            try:
                walk = snmprec.walk(file.text)
            except MalformedReply as wrong:
                why = str(wrong)
                continue
            found |= walk.variables
            for line in walk.broken:
                labels = {"device": self._device, "file": file.name, "line": str(line.line)}
                columns.refuse(Reason.MALFORMED, line.why, labels, line.text)
            for oid, values in walk.twice.items():
                columns.refuse(Reason.DUPLICATE, oid, {"device": self._device}, repr(values)[:60])
        if not found:
            raise SourceUnavailable(f"{files[0]}: no SNMP walk ({why}); record one by snmpwalk -On")
        return found
