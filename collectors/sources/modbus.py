"""Cooling units and power meters over Modbus TCP: registers, by a map that says what they are.

A device shows numbered registers and nothing of what they mean; a register map says it: `mapping`
names one that is shipped, `map` is a file of the site's own (`fabrichealth check-map FILE` holds it
against the catalogue, with --probe against the device). Blocks are read around addresses that the
device does not have. Numbers that mean no sensor, and those that their sensor cannot say, are
refused; of one that only the other order of words makes plausible, the refusal says so.

Address: modbus://HOST[:PORT][/UNIT]; the unit is else that of the map. Units behind one gateway
share its connection.
Captures: a register dump, CSV rows `table,address,value`.
"""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from collectors.captures import captured
from collectors.maps import kept_wraps, register_maps
from collectors.maps.columns import Columns
from collectors.maps.places import Places
from collectors.maps.register_maps import RegisterMap
from collectors.maps.register_schema import METRICS
from collectors.modbus.blocks import Answered, Blocks
from collectors.modbus.sheet import Sheet
from collectors.protocols import register_dump
from collectors.protocols.modbus_registers import Decoded
from collectors.source import Source, SourceSettings, Target
from collectors.transports.modbus import SCHEMES, ModbusClient, unit_of
from fabrichealth.catalogue.cooling import LOOP_INFO
from fabrichealth.errors import MalformedReply, SiteError, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, seconds


class ModbusSettings(SourceSettings):
    """Modbus section of the configuration."""

    answer: Duration = Field(default=seconds(1.5), gt=0)
    """How long one answer is waited for; then the connection is dropped until the next visit."""

    configuration: Duration = seconds(600)
    """After so long a register is asked for again that the device did not have."""


class Modbus(Source):
    """One unit that speaks Modbus TCP."""

    settings_type = ModbusSettings
    settings: ModbusSettings
    schemes = SCHEMES
    options = ("map", "mapping")
    closest = 1.0
    metrics = (*METRICS, LOOP_INFO)

    def __init__(self, settings: ModbusSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        known = _map_of(target)
        self._places = Places(target)
        self._sheet = Sheet(table, self._places, known)
        self._blocks = Blocks(
            self._sheet.registers, known.longest, known.bridge, settings.configuration
        )
        self._last: tuple[Decoded, dict[int, str]] | None = None
        self._infos = self._places.loop_infos(table, self._sheet.series)
        self._client = (
            ModbusClient(target, unit_of(target.address, known.unit_id), settings.answer)
            if target.address
            else None
        )

    async def read(self, at: float) -> Poll:
        """Visit the device once.

        Raises:
            SourceUnavailable: it did not answer, or has none of the registers.
        """
        if self._client is None:
            raise self.addressless
        answered = self._blocks.nothing()
        late = False
        try:
            async with asyncio.timeout(self.settings.patience):
                await self._blocks.ask(self._client.read, at, answered)
        except (TimeoutError, SourceUnavailable) as wrong:
            if not answered.answers:
                if isinstance(wrong, SourceUnavailable):
                    raise
                raise SourceUnavailable(
                    f"{self.target.name}: {self._client.where}: no turn within "
                    f"{self.settings.patience:g} s; is a unit beside it silent?"
                ) from None
            late = True
        if not answered.came.any():
            said = {**answered.failed, **answered.absent}
            why = next(iter(said.values()), "each was refused before")
            hint = "is there such a unit" if "gateway" in why else "is it the device's map"
            raise SourceUnavailable(
                f"{self.target.name}: {self._client.where} unit {self._client.unit} gives none of "
                f"the registers of {self._sheet.known.name} ({why}); {hint}?"
            )
        return self._poll(answered, at, late=late)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read one poll from the register dumps in these files.

        Raises:
            SourceUnavailable: none of them holds a register that the map knows.
        """
        columns = Columns(self.table)
        answered = self._recorded(files, columns)
        if not answered.came.any():
            raise SourceUnavailable(
                f"{files[0]}: none of the registers of {self._sheet.known.name} is in it; is it "
                "the device's map?"
            )
        return self._poll(answered, at, columns, late=True)

    def memory(self) -> dict[str, Any]:
        """Return what the repair of wraps must remember."""
        return {"wraps": kept_wraps.kept(self._sheet.repair, self.table)}

    def remember(self, memory: Mapping[str, Any]) -> None:
        """Take up what `memory` returned."""
        kept_wraps.restore(self._sheet.repair, self.table, memory.get("wraps"))

    def report(self, *, explain: bool) -> Iterator[str] | None:
        """Return a line for each register as it was read last, where that is asked for."""
        return None if not explain or self._last is None else self._sheet.lines(*self._last)

    async def close(self) -> None:
        """Let go of the connection."""
        if self._client is not None:
            await self._client.close()

    def _poll(
        self, answered: Answered, at: float, columns: Columns | None = None, *, late: bool
    ) -> Poll:
        """Return what came; `late` says that more was asked for than came."""
        columns = columns or Columns(self.table)
        decoded = self._sheet.take(answered.words, answered.came, at, columns)
        self._last = decoded, {**answered.absent, **answered.failed}
        columns.put_all(*self._infos)
        for row, why in answered.absent.items():
            self._sheet.absent(row, why, columns)
        for row, why in answered.failed.items():
            self._sheet.failed(row, why, columns)
        if late:
            columns.missing += self._sheet.missing(answered.came, self._blocks.lacking())
        elif answered.failed:
            entries = self._sheet.known.entries
            columns.missing += [entries[row].name for row in answered.failed]
        return columns.poll(self.clock, at)

    def _recorded(self, files: list[Path], columns: Columns) -> Answered:
        """Return the words of all files that are dumps."""
        answered, place = self._blocks.nothing(), self._sheet.registers.place
        why, found = "there is no file", False
        device = self._places.device
        for file in captured(files):
            try:
                dump = register_dump.parse(file.text)
            except MalformedReply as wrong:
                why = str(wrong)
                continue
            found = True
            for cell, word in dump.words.items():
                if cell in place:
                    answered.words[place[cell]], answered.came[place[cell]] = word, True
            for line in dump.broken:
                labels = {"device": device, "file": file.name, "line": str(line.line)}
                columns.refuse(Reason.MALFORMED, "table,address,value", labels, line.text)
            for (function, address), words in dump.twice.items():
                what = f"{register_maps.TABLE[function]} {address}"
                columns.refuse(Reason.DUPLICATE, what, {"device": device}, repr(words)[:60])
        if not found:
            raise SourceUnavailable(
                f"{files[0]}: no register dump ({why}); write rows table,address,value"
            )
        return answered


def _map_of(target: Target) -> RegisterMap:
    """Return the map that a target names.

    Raises:
        SiteError: it names none, or one that is wrong.
    """
    said = target.options.get("map", "")
    if said:
        return register_maps.read(Path(said))
    name = target.options.get("mapping", "")
    if not name:
        known = ", ".join(register_maps.names())
        raise SiteError(
            f"{target.name}: no register map; give map: FILE, or mapping: one of {known}"
        )
    return register_maps.read(register_maps.find(name))
