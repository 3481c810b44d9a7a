"""The emulated SNMP agent: what real clients make of it, and that no message harms it."""

import asyncio
import contextlib
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator import ber
from emulator.fabric import Fabric
from emulator.plan import Plan
from emulator.snmp import SnmpAgent
from emulator.snmp_switch import SnmpSwitch

AT = 1_767_225_600.0


def switch() -> SnmpSwitch:
    fabric = Fabric(Plan(racks=1, hosts_per_rack=2, access=("snmp",)), 1, AT - 10)
    fabric.advance(AT)
    return SnmpSwitch(fabric, "tor-01")


async def run(command: str, *words: str) -> str:
    agent = SnmpAgent(switch().mib)
    await agent.start()
    host = agent.address.removeprefix("snmp://")
    process = await asyncio.create_subprocess_exec(
        command, "-v2c", "-cpublic", "-On", "-m", "", host, *words,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await process.communicate()
    await agent.stop()
    return said.decode()


@pytest.mark.skipif(
    shutil.which("snmpbulkwalk") is None, reason="no snmpbulkwalk: apt-get install snmp"
)
class TestNetSnmp:
    @pytest.mark.parametrize("command", ["snmpwalk", "snmpbulkwalk"])
    async def test_walks_every_variable_once(self, command: str) -> None:
        said = (await run(command, "1")).splitlines()
        shown = [line for line in said if " = " in line and "No more" not in line]
        assert len({line.partition(" = ")[0] for line in shown}) == len(switch().mib())

    async def test_gets_a_value_an_absence_and_no_writing(self) -> None:
        said = await run("snmpget", "1.3.6.1.2.1.1.5.0", "1.3.6.1.2.1.1.5.7", "1.3.6.1.9.1.0")
        assert 'STRING: "tor-01"' in said
        assert "No Such Instance" in said
        assert "No Such Object" in said
        assert "noAccess" in await run("snmpset", "1.3.6.1.2.1.1.5.0", "s", "x")


@given(st.binary(max_size=80))
def test_what_is_no_message_gets_no_answer(message: bytes) -> None:
    with contextlib.suppress(ValueError, IndexError):
        assert SnmpAgent(dict).answer(message) is None


@given(st.integers(-(2**63), 2**64 - 1))
def test_an_integer_is_read_back(value: int) -> None:
    ((tag, content),) = ber.elements(ber.integer(value))
    assert (tag, ber.number(content)) == (ber.INTEGER, value)
    assert len(content) == 1 or content[0] not in {0, 0xFF} or (content[1] ^ content[0]) & 0x80


@given(st.tuples(st.integers(0, 1), st.integers(0, 39)), st.lists(st.integers(0, 2**32 - 1)))
def test_an_identifier_is_read_back(head: tuple[int, int], rest: list[int]) -> None:
    ((_, content),) = ber.elements(ber.oid((*head, *rest)))
    assert ber.numbers(content) == (*head, *rest)
