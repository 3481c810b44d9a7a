"""How the Ethernet switches of an emulated supernode answer, each in the protocol of its make."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from emulator import openconfig
from emulator.eapi import EapiSwitch
from emulator.fabric import Fabric
from emulator.gnmi import GnmiDevice
from emulator.nvue import NvueSwitch
from emulator.resp import Hashes, RespServer
from emulator.snmp import Mib, SnmpAgent
from emulator.snmp_switch import SnmpSwitch
from emulator.sonic import SonicSwitch


class Clock(Protocol):
    """Time of the emulated world, which may run faster than the wall's."""

    def now(self) -> float:
        """Return unix seconds."""

    async def sleep(self, seconds: float) -> None:
        """Wait so many of its seconds."""


class Server(Protocol):
    """What answers for a switch; after `stop` it can be started again at the same address."""

    async def start(self) -> None:
        """Answer from now on, on loopback."""

    async def stop(self) -> None:
        """Answer nobody any more."""

    @property
    def address(self) -> str:
        """Where it answers, once started."""


def sonic(fabric: Fabric, name: str, clock: Clock) -> Server:
    """Return the Redis of a switch that runs SONiC."""
    switch = SonicSwitch(fabric, name)

    def tell(number: int) -> Hashes:
        fabric.carry(clock.now())
        return switch.database(number)

    return RespServer(tell)


def gnmi(fabric: Fabric, name: str, clock: Clock) -> Server:
    """Return a switch that streams OpenConfig's models."""

    def tell() -> Mapping[str, Mapping[str, Any]]:
        fabric.carry(clock.now())
        return {"": openconfig.values(fabric, name)}

    return GnmiDevice({}, tell, now=clock.now, sleep=clock.sleep)


def snmp(fabric: Fabric, name: str, clock: Clock) -> Server:
    """Return the SNMP agent of a switch."""
    switch = SnmpSwitch(fabric, name)

    def tell() -> Mib:
        fabric.carry(clock.now())
        return switch.mib()

    return SnmpAgent(tell)


def eapi(fabric: Fabric, name: str, clock: Clock) -> Server:
    """Return a switch that runs EOS."""
    return EapiSwitch(fabric, name, now=clock.now)


def nvue(fabric: Fabric, name: str, clock: Clock) -> Server:
    """Return a switch that runs Cumulus Linux."""
    return NvueSwitch(fabric, name, now=clock.now)


MAKES: Mapping[str, Callable[[Fabric, str, Clock], Server]] = {
    "sonic": sonic,
    "gnmi": gnmi,
    "snmp": snmp,
    "eapi": eapi,
    "nvue": nvue,
}
"""By the source that reads it."""
