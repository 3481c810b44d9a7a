"""`check-map FILE [--probe ADDRESS]`: a register map, held against the catalogue and a device."""

import argparse
import asyncio
import re
from pathlib import Path

from collectors.maps import register_maps
from collectors.maps.register_maps import RegisterMap
from collectors.protocols.modbus_blocks import planned
from collectors.source import Target
from fabrichealth.address import checked_url
from fabrichealth.cli import _terminal
from fabrichealth.cli._command import AGAINST, WELL, Command
from fabrichealth.cli._site import settings_for, source_type
from fabrichealth.errors import UsageError
from fabrichealth.model import Reason, SeriesTable
from fabrichealth.runtime.clock import Clock

AGAINST_THE_MAP = {Reason.UNSUPPORTED, Reason.IMPLAUSIBLE, Reason.MALFORMED}
"""What comes of a map that is wrong; a probe that fell off is no fault of it."""


class CheckMap(Command):
    """Validates a register map; with a device, says what each register reads."""

    help = "validate a register map; with --probe read each of its registers from a device"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the map, and the device."""
        parser.add_argument("map", metavar="FILE", help="a map of your own, or one by its name")
        parser.add_argument("--probe", metavar="ADDRESS", help="HOST[:PORT] or modbus://..")
        parser.add_argument("--unit", type=int, metavar="N", help="unit; default the map's")

    def run(self, asked: argparse.Namespace) -> int:
        """Check, and return 1 where map and device do not fit."""
        path = register_maps.find(asked.map)
        known = register_maps.read(path)
        registers = [one.register for one in known.entries]
        requests = len(planned(registers, known.longest, known.bridge))
        _terminal.say(f"{path}: well; {len(registers)} registers, read by {requests} requests")
        if asked.probe is None:
            if asked.unit is not None:
                raise UsageError("--unit is of a device; give --probe HOST[:PORT] too")
            for one in known.entries:
                words = " ".join(f"{key}={text}" for key, text in one.labels.items() if text)
                side = f" ({one.side} side)" if one.side else ""
                _terminal.say(f"  {one.name:32} {one.shown:28} {one.metric} {words}{side}".rstrip())
            return WELL
        return asyncio.run(_probed(path, known, _address(asked.probe, asked.unit)))


def _address(said: str, unit: int | None) -> str:
    """Return the address of a probe."""
    url = said if "://" in said else f"modbus://{said}"
    try:
        url = checked_url(url, ("modbus",))
    except ValueError as wrong:
        raise UsageError(f"--probe: {wrong}") from None
    if unit is None:
        return url
    if not 0 <= unit <= 255:
        raise UsageError(f"--unit {unit}: from 0 to 255")
    if re.search(r"://[^/]+/.", url):
        raise UsageError("the address names a unit already; leave out --unit")
    return f"{url.rstrip('/')}/{unit}"


async def _probed(path: Path, known: RegisterMap, address: str) -> int:
    """Read every register once and say what came."""
    name = "modbus"
    target = Target(known.name, name, address, "", {"map": str(path)})
    source = source_type(name)(settings_for(name, {}), target, SeriesTable())
    try:
        poll = await source.read(Clock().now())
    finally:
        await source.close()
    for line in source.report(explain=True) or ():
        _terminal.say(f"  {line}")
    against = sum(one.reason in AGAINST_THE_MAP for one in poll.refused)
    _terminal.say(
        f"{poll.readings} read, {len(poll.refused)} refused"
        + (f", missing {', '.join(poll.missing)}" if poll.missing else "")
    )
    if not against:
        return WELL
    _terminal.warn(f"{path}: {against} of {len(known.entries)} registers do not fit the device")
    return AGAINST
