"""Arista switches over eAPI: ports, PHYs with their FEC, light, queues, pauses and neighbours.

A visit sends the show commands that are due in one request of JSON-RPC. A command that this
platform or release does not have costs only itself. What the answers mean is data
(`collectors/maps/eapi`); names vary by release, so `map:` may name a file of the same form with
rules of your own, which rank first, and `commands` further commands for them.

Address: https://HOST (the path is /command-api where none is given). `user` and `secret_file` log
in. Captures: the results of commands, one or several a file, or a whole answer to runCmds.
"""

import asyncio
import re
from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import field_validator

from collectors.captures import captured
from collectors.eapi import commands
from collectors.eapi.commands import Commands
from collectors.eapi.ports import EosPorts
from collectors.maps import tree_rules
from collectors.maps.columns import Columns
from collectors.maps.names import device_name
from collectors.protocols import eapi, json_tree
from collectors.protocols.eapi import Answer, Result
from collectors.source import LOGIN, TRUST, Source, SourceSettings, Target
from collectors.transports.http import HttpClient
from collectors.trees.pace import Pace
from collectors.trees.sheets import Sheets
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.settings import Duration, Size, seconds

PATH = "/command-api"
EOS = tree_rules.FOLDER / "eapi" / "eos.yaml"
STAMPS = {"updateTime", "counterRefreshTime"}


class EapiSettings(SourceSettings):
    """Eapi section of the configuration."""

    period: Duration = seconds(30)
    """How often counters are read; a switch answers all of them in about a second."""

    timeout: Duration = seconds(20)
    """Give up on one visit after this long; the next poll tries again."""

    modules: Duration = seconds(60)
    """How often the optical modules are read."""

    phys: Duration = seconds(60)
    """How often PHYs and their FEC are read; it is the dearest command for the switch."""

    neighbors: Duration = seconds(60)
    """How often LLDP neighbours and the release are read."""

    retry: Duration = seconds(600)
    """A command that the device does not know is asked for again only after this long."""

    commands: tuple[str, ...] = ()
    """Further show commands, read at every visit for the rules of `map:`."""

    @field_validator("commands")
    @classmethod
    def _only_shows(cls, commands: tuple[str, ...]) -> tuple[str, ...]:
        """Nothing that is written into a site file may change a switch."""
        for one in commands:
            if not re.fullmatch(r"show [^|>\n\r]+", one):
                raise ValueError(f"{one!r} is no show command; write it in full, without | and >")
        return commands

    max_bytes: Size = 64 * 2**20
    """An answer beyond this size is not read to its end, and the target counts as unavailable."""


class Eapi(Source):
    """One switch with EOS."""

    settings_type = EapiSettings
    settings: EapiSettings
    schemes = ("https", "http")
    options = (*LOGIN, *TRUST, "map")
    closest = 5.0  # an answer takes the switch about a second
    metrics = tree_rules.metrics((tree_rules.read(EOS),))

    def __init__(self, settings: EapiSettings, target: Target, table: SeriesTable) -> None:
        super().__init__(settings, target, table)
        self._ports = EosPorts()
        self._sheets = Sheets(
            table,
            target,
            device_name(target.subject),
            tree_rules.rules(tree_rules.maps(EOS, target.options.get("map", ""))),
            self._ports.place,
            lambda port, said: "roce",
            settings.stale_after,
        )
        self._commands = Commands(
            commands.periods(
                settings.modules, settings.phys, settings.neighbors, settings.commands
            ),
            Pace(settings.retry),
        )
        path = urlsplit(target.address).path.rstrip("/") if target.address else ""
        self._path = "" if path else PATH
        self._http = (
            HttpClient(target, settings.timeout, settings.max_bytes) if target.address else None
        )

    async def read(self, at: float) -> Poll:
        """Ask what is due.

        Raises:
            SourceUnavailable: no answer, or one that is not eAPI's.
        """
        slack, share = self.settings.slack, self.settings.patience
        try:
            found = await self._commands.run(at, slack, self._ask, share)
        except TimeoutError:
            raise SourceUnavailable(
                f"{self.target.name}: {self._where}: no whole answer within {share:g} s; "
                "is it up, or is timeout: too short?"
            ) from None
        columns = Columns(self.table)
        for command, failure in found.failures.items():
            reason = Reason.UNSUPPORTED if failure.unsupported else Reason.FAILED
            columns.refuse(reason, command, {"device": self.target.subject}, failure.text)
            if not failure.unsupported:
                columns.missing.append(command)
        if found.failures and not any(found.results.values()):
            command, failure = next(iter(found.failures.items()))
            raise SourceUnavailable(
                f"{self.target.name}: {self._where}: no command succeeds ({command}: "
                f"{failure.text or 'no reason given'}); may this user run show commands?"
            )
        for command, result in self._learnt(found.results.items()):
            self._sheets.take(command, result, at, columns)
            await asyncio.sleep(0)  # a first contact takes long enough to hold up other targets
        return self._poll(at, columns)

    def captured(self, files: list[Path], at: float) -> Poll:
        """Read one poll from the results in these files.

        Raises:
            SourceUnavailable: none of them is a result of a show command.
        """
        found, wrong = _results(files)
        columns = Columns(self.table)
        known = _whole(one for one in found if self._sheets.knows(one))
        if not known:
            raise SourceUnavailable(
                f"{files[0]}: no result of a show command that is known"
                f"{f' ({wrong})' if wrong else ''}; give JSON as eAPI answers it"
            )
        for kind, result in self._learnt(known.items()):
            self._sheets.take(kind, result, at, columns)
        return self._poll(at, columns)

    def moment(self, files: list[Path]) -> float | None:
        """Return the newest time stamp of counters or modules in these files."""
        try:
            found, _ = _results(files)
        except SourceUnavailable:
            return None
        stamps = [
            float(value)
            for one in found
            for path, value in _leaves(one)
            if path[-1] in STAMPS and isinstance(value, int | float) and 1e9 < value < 1e10
        ]
        return max((one for one in stamps if isfinite(one)), default=None)

    async def close(self) -> None:
        """Let go of the connection."""
        if self._http is not None:
            await self._http.close()

    @property
    def _where(self) -> str:
        return self._http.where if self._http is not None else ""

    async def _ask(self, wanted: list[str]) -> Answer:
        if self._http is None:
            raise self.addressless
        reply = await self._http.ask("POST", self._path, json=eapi.request(wanted))
        try:
            return eapi.answer(json_tree.document(reply.body))
        except MalformedReply as wrong:
            raise SourceUnavailable(
                f"{self.target.name}: {self._where}: {wrong}; is eAPI enabled there, and the "
                "address right?"
            ) from None

    def _learnt(self, found: Iterable[tuple[str, Result]]) -> list[tuple[str, Result]]:
        """Begin a poll: learn which interfaces are ports, return results as the maps know them."""
        self._sheets.begin()
        told = [(command, eapi.read(result)) for command, result in found]
        changed = [self._ports.learn(eapi.lanes(result)) for _, result in told]
        if any(changed):
            self._sheets.forget()
        return told

    def _poll(self, at: float, columns: Columns) -> Poll:
        neighbors = self._sheets.finish(columns)
        return columns.poll(self.clock, at, neighbors)


def _results(files: list[Path]) -> tuple[list[Result], str]:
    """Return the results in files, and what was wrong with the last that holds none."""
    found: list[Result] = []
    wrong = ""
    for file in captured(files):
        try:
            found += eapi.captured(json_tree.document(file.text))
        except MalformedReply as broken:
            wrong = str(broken)
    return found, wrong


def _whole(results: Iterable[Result]) -> dict[str, Result]:
    """Return results by kind, one that is split over captures as a whole: the first says it."""
    found: dict[str, Result] = {}
    for one in results:
        json_tree.merge(found.setdefault(" ".join(sorted(one)), {}), one)
    return found


def _leaves(result: Result) -> Iterable[tuple[json_tree.Path, Any]]:
    shape, leaves = json_tree.flattened(result)
    return zip(json_tree.paths(shape), leaves, strict=True)
