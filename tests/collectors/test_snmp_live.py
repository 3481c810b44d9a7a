"""The snmp source on agents: snmpd, snmpsim, and the emulated one at its worst."""

import asyncio
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("gufo.snmp", reason="no gufo-snmp: install fabrichealth[snmp]")

from collectors.source import Target
from collectors.sources.snmp import Snmp, SnmpSettings
from collectors.transports.snmp import SnmpClient
from emulator import ber
from emulator.ber import Oid
from emulator.fabric import Fabric
from emulator.plan import Plan
from emulator.snmp import Mib, SnmpAgent, Variable
from emulator.snmp_switch import SnmpSwitch
from fabrichealth.catalogue import optics, ports
from fabrichealth.errors import SourceUnavailable
from fabrichealth.model import Neighbor, Poll, Reason, SeriesTable
from tests.collectors.snmp_walks import Columns, snmprec
from tests.collectors.snmp_walks import ports as columns_of
from tests.fixtures import readings

AT = 1_767_225_600.0

needs_snmpd = pytest.mark.skipif(
    shutil.which("snmpd") is None, reason="no snmpd: apt-get install snmpd"
)
needs_snmpwalk = pytest.mark.skipif(
    shutil.which("snmpbulkwalk") is None, reason="no snmpbulkwalk: apt-get install snmp"
)
RESPONDER = Path(sys.executable).with_name("snmpsim-command-responder")
needs_snmpsim = pytest.mark.skipif(not RESPONDER.exists(), reason="no snmpsim: pip install snmpsim")


def source(address: str, _table: SeriesTable | None = None, /, **options: str) -> Snmp:
    target = Target("leaf-01", "snmp", address, "", options)
    settings = SnmpSettings.model_validate({"timeout": "5s", "answer": "300ms"})
    return Snmp(settings, target, SeriesTable() if _table is None else _table)


async def once(address: str, **options: str) -> Poll:
    visitor = source(address, **options)
    try:
        return await visitor.read(AT)
    finally:
        await visitor.close()


async def refused(address: str, **options: str) -> str:
    with pytest.raises(SourceUnavailable) as wrong:
        await once(address, **options)
    assert "\n" not in str(wrong.value)
    assert str(wrong.value).startswith("leaf-01: ")
    return str(wrong.value)


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def served(folder: Path, port: int) -> Iterator[str]:
    """Run an snmpd that knows a community, and users of version 3."""
    configuration = folder / "snmpd.conf"
    configuration.write_text(
        "rocommunity readers 127.0.0.1\n"
        "createUser private SHA-256 authentic-words AES secret-words\nrouser private authpriv\n"
        "createUser plain SHA authentic-words\nrouser plain auth\n"
    )
    (folder / "log").unlink(missing_ok=True)
    process = subprocess.Popen(
        ["snmpd", "-f", "-Lf", "log", "-C", "-c", configuration, "-p", "pid",
         f"udp:127.0.0.1:{port}"],
        cwd=folder,
        env={"MIBS": "", "PATH": "/usr/sbin:/usr/bin", "SNMP_PERSISTENT_DIR": str(folder)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    log = folder / "log"
    for _ in range(500):
        if log.exists() and "NET-SNMP version" in log.read_text():
            break
        time.sleep(0.02)
    try:
        yield f"snmp://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module")
def snmpd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("snmpd"), free_port()) as address:
        yield address


@pytest.fixture
def words(tmp_path: Path) -> Callable[[str], str]:
    """Return a maker of secret files."""

    def write(text: str) -> str:
        (tmp_path / "secret").write_text(text)
        return str(tmp_path / "secret")

    return write


@needs_snmpd
class TestSnmpd:
    async def test_is_read_with_its_community(
        self, snmpd: str, words: Callable[[str], str]
    ) -> None:
        poll = await once(snmpd, secret_file=words("readers\n"))
        assert poll.readings > 1
        assert (poll.refused, poll.missing) == ([], [])

    async def test_gives_a_stranger_no_answer(self, snmpd: str) -> None:
        assert "community" in await refused(snmpd)

    @pytest.mark.parametrize("secret", ["authentic-words\nsecret-words\n"])
    async def test_is_read_by_a_user_with_privacy(
        self, snmpd: str, words: Callable[[str], str], secret: str
    ) -> None:
        login = {"version": "3", "user": "private", "auth": "sha256", "priv": "aes"}
        poll = await once(snmpd, secret_file=words(secret), **login)
        assert poll.readings > 1

    @pytest.mark.parametrize(
        "login",
        [
            pytest.param({}, id="2c"),
            pytest.param({"user": "plain", "auth": "sha"}, id="3, signed"),
            pytest.param({"user": "private", "auth": "sha256", "priv": "aes"}, id="3, secret"),
        ],
    )
    async def test_is_asked_for_single_variables(
        self, snmpd: str, words: Callable[[str], str], login: dict[str, str]
    ) -> None:
        secret = words("authentic-words\nsecret-words\n" if login else "readers")
        target = Target("a", "snmp", snmpd, options={"secret_file": secret, **login})
        client = SnmpClient(target, 1.0, 1, 25)
        name, uptime, nothing = "1.3.6.1.2.1.1.5.0", "1.3.6.1.2.1.1.3.0", "1.3.6.1.2.1.1.99.0"
        found = await client.variables([name, uptime, nothing])
        assert found.keys() == {name, uptime}
        assert isinstance(found[uptime].values[0], int)
        assert await client.variables([nothing]) == {}
        await client.close()

    async def test_is_read_by_a_user_without_privacy(
        self, snmpd: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WORDS", "authentic-words")
        poll = await once(snmpd, user="plain", auth="sha", secret_env="WORDS")  # noqa: S106 - a name
        assert poll.readings > 1

    @pytest.mark.parametrize(
        ("secret", "login", "says"),
        [
            ("wrong-words", {"user": "plain", "auth": "sha"}, "refuses the user"),
            ("authentic-words", {"user": "nobody", "auth": "sha"}, "refuses the user"),
            ("authentic-words", {"user": "plain", "auth": "sha512"}, "refuses the user"),
            ("", {"user": "plain"}, "does the view"),
            ("short", {"user": "plain", "auth": "sha"}, "8 letters"),
            (
                "authentic-words\nwrong-words",
                {"user": "private", "auth": "sha256", "priv": "aes"},
                "check priv",
            ),
        ],
    )
    async def test_refuses_wrong_logins_in_one_line(
        self,
        snmpd: str,
        words: Callable[[str], str],
        secret: str,
        login: dict[str, str],
        says: str,
    ) -> None:
        message = await refused(snmpd, secret_file=words(secret), **login)
        assert says in message
        assert not secret or secret.splitlines()[0] not in message

    async def test_that_starts_anew_is_read_on_by_the_same_user(
        self, tmp_path: Path, words: Callable[[str], str]
    ) -> None:
        port, secret = free_port(), words("authentic-words")
        with served(tmp_path, port) as address:
            visitor = source(address, user="plain", auth="sha", secret_file=secret)
            first = await visitor.read(AT)
        with served(tmp_path, port):  # its engine counts one boot more
            second = await visitor.read(AT + 30)
        await visitor.close()
        assert second.missing == []
        assert 0 < second.readings <= first.readings

    @needs_snmpwalk
    async def test_its_recorded_walk_says_the_same(
        self, snmpd: str, words: Callable[[str], str], tmp_path: Path
    ) -> None:
        host = snmpd.removeprefix("snmp://")
        walk = await asyncio.create_subprocess_exec(
            "snmpbulkwalk", "-v2c", "-creaders", "-On", "-m", "", host, "1.3.6.1.2.1",
            stdout=subprocess.PIPE,
        )  # fmt: skip
        (tmp_path / "walk.txt").write_bytes((await walk.communicate())[0])
        table = SeriesTable()
        captured = source("", table).captured([tmp_path / "walk.txt"], AT)
        visitor = source(snmpd, table, secret_file=words("readers"))
        live = await visitor.read(AT)
        assert set(live.batches[0].series) == set(captured.batches[0].series)
        assert readings(live, table, ports.UP) == readings(captured, table, ports.UP)


async def test_nobody_there_is_said_in_one_line() -> None:
    assert "nothing listens" in await refused(f"snmp://127.0.0.1:{free_port()}")


async def test_silence_is_said_in_one_line() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"snmp://127.0.0.1:{silent.getsockname()[1]}"
        assert "community" in await refused(address)
        assert "version 3" in await refused(address, user="plain", auth="sha")


async def test_an_unknown_host_is_said_in_one_line() -> None:
    assert "no known host" in await refused("snmp://no.such.host.invalid")


async def test_a_secret_that_is_not_there_is_said_in_one_line() -> None:
    assert "secret_file" in await refused("snmp://127.0.0.1", secret_file="/nowhere/secret")  # noqa: S106 - a path


@needs_snmpsim
async def test_snmpsim_says_what_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    names = [f"Eth1/{n}" for n in range(1, 120)]
    walked: Columns = {**columns_of(*names), "ifHCInOctets": {n: 10**15 + n for n in range(1, 120)}}
    text = snmprec(walked)
    (tmp_path / "data" / "public.snmprec").write_text(text)
    (tmp_path / "capture.snmprec").write_text(text)
    port = free_port()
    process = subprocess.Popen(
        [RESPONDER, "--data-dir", tmp_path / "data", "--cache-dir", tmp_path / "cache",
         f"--agent-udpv4-endpoint=127.0.0.1:{port}", "--process-user=root",
         "--process-group=root"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path,
    )  # fmt: skip
    table = SeriesTable()
    target = Target("leaf-01", "snmp", f"snmp://127.0.0.1:{port}")
    settings = SnmpSettings.model_validate({"timeout": "20s", "answer": "3s"})
    visitor = Snmp(settings, target, table)
    try:
        for _ in range(20):
            try:
                live = await visitor.read(AT)
                break
            except SourceUnavailable:
                if process.poll() is not None:
                    pytest.skip("snmpsim does not start")
                await asyncio.sleep(0.5)
        else:
            pytest.skip("snmpsim does not answer")
    finally:
        process.terminate()
        process.wait(10)
    captured = source("", table).captured([tmp_path / "capture.snmprec"], AT)
    assert readings(live, table, ports.RX_BYTES) == readings(captured, table, ports.RX_BYTES)
    assert live.readings == captured.readings == 119 * 5


def fabric() -> Fabric:
    found = Fabric(Plan(racks=1, hosts_per_rack=3, access=("snmp",)), 1, AT - 10)
    found.advance(AT)
    return found


async def visit(agent: SnmpAgent, table: SeriesTable | None = None) -> Poll:
    await agent.start()
    visitor = source(agent.address, table)
    try:
        return await visitor.read(AT)
    finally:
        await visitor.close()
        await agent.stop()


async def test_an_emulated_switch_tells_ports_light_and_neighbours() -> None:
    table, world = SeriesTable(), fabric()
    poll = await visit(SnmpAgent(SnmpSwitch(world, "tor-01").mib), table)
    assert (poll.refused, poll.missing) == ([], [])
    state = world.ports["tor-01/Ethernet1/1"]
    octets = readings(poll, table, ports.RX_BYTES)["leaf-01", "Ethernet1/1"]
    assert octets == pytest.approx(state.rx_words * 4, abs=1)
    assert state.optical is not None
    light = readings(poll, table, optics.RX_POWER)["leaf-01", "Ethernet1/1", "2"]
    assert light == pytest.approx(state.optical.module.rx_dbm[1], abs=0.01)
    assert Neighbor("leaf-01", "Ethernet1/1", "host-001", "eth0", "lldp") in poll.neighbors


async def test_a_second_poll_asks_only_for_what_it_needs() -> None:
    agent = SnmpAgent(SnmpSwitch(fabric(), "tor-01").mib)
    table = SeriesTable()
    await agent.start()
    visitor = source(agent.address, table)
    first = await visitor.read(AT)
    asked, known = agent.asked, len(table)
    second = await visitor.read(AT + 30)
    assert agent.asked - asked < asked / 2
    assert 0 < second.readings < first.readings  # sensors and neighbours rest
    assert len(table) == known
    await visitor.close()
    await agent.stop()


UPTIME = (1, 3, 6, 1, 2, 1, 1, 3, 0)
OCTETS = (1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6)


def table_of(*values: int) -> Mib:
    """Return a MIB of so many ports, with octets received."""
    mib: dict[Oid, Variable] = {}
    for index, value in enumerate(values, start=1):
        mib[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1, index] = Variable(ber.OCTETS, b"p%d" % index)
        mib[1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6, index] = Variable(ber.COUNTER64, value)
    return mib


class Looping(SnmpAgent):
    """Goes back to the first row of received octets after the last."""

    def after(self, oid: Oid) -> tuple[Oid, Variable]:
        found, variable = super().after(oid)
        if variable.tag == ber.END_OF_MIB:
            return super().after((*oid[:-1], 0))
        return found, variable


class Backwards(SnmpAgent):
    """Gives the rows of a column in descending order."""

    def bulk(self, asked: list[Oid], once: int, repetitions: int) -> list[tuple[Oid, Variable]]:
        told = super().bulk(asked, once, repetitions)
        return sorted(told, key=lambda row: (row[0][:-1], -row[0][-1]))


async def test_an_agent_without_order_gives_nothing() -> None:
    mib = {**table_of(*range(9)), UPTIME: Variable(ber.TIMETICKS, 500)}
    with pytest.raises(SourceUnavailable, match=r"gives nothing of a port \(.* not ascend"):
        await asyncio.wait_for(visit(Backwards(lambda: mib)), 10)


async def test_what_an_agent_that_loops_told_before_is_partial() -> None:
    mib, table = table_of(*range(9)), SeriesTable()
    poll = await asyncio.wait_for(visit(Looping(lambda: mib), table), 10)
    assert len(readings(poll, table, ports.PORT_INFO)) == 9
    assert poll.missing == ["counters"]
    assert Reason.MALFORMED in {one.reason for one in poll.refused}


async def test_an_agent_that_shows_only_its_uptime_is_unavailable() -> None:
    mib: Mib = {UPTIME: Variable(ber.TIMETICKS, 500)}
    with pytest.raises(SourceUnavailable, match="shows no ports"):
        await visit(SnmpAgent(lambda: mib))


class Deaf(SnmpAgent):
    """Loses answers of more rows than its network carries."""

    def bulk(self, asked: list[Oid], once: int, repetitions: int) -> list[tuple[Oid, Variable]]:
        if repetitions > 15:
            raise ValueError("lost")
        return super().bulk(asked, once, repetitions)


async def test_an_agent_that_loses_large_answers_is_asked_for_less() -> None:
    mib, table = table_of(*range(40)), SeriesTable()
    poll = await visit(Deaf(lambda: mib), table)
    assert len(readings(poll, table, ports.RX_BYTES)) == 40


class Dying(SnmpAgent):
    """Says nothing any more after some answers."""

    def answer(self, message: bytes) -> bytes | None:
        return super().answer(message) if self.asked < 6 else None


async def test_an_uptime_alone_from_an_agent_that_fell_silent_is_no_visit() -> None:
    mib = table_of(1, 2)
    mib = {**mib, UPTIME: Variable(ber.TIMETICKS, 500)}
    with pytest.raises(SourceUnavailable, match="gives nothing of a port"):
        await visit(Dying(lambda: mib), SeriesTable())


class Noisy(SnmpAgent):
    """Answers with octets that are no message."""

    def answer(self, message: bytes) -> bytes | None:
        return bytes(reversed(message))


async def test_noise_is_no_answer() -> None:
    agent = Noisy(dict)
    await agent.start()
    try:
        await refused(agent.address)
    finally:
        await agent.stop()


class Narrow(SnmpAgent):
    """An agent whose answers hold no more than eight variables (tooBig, RFC 3416 section 4.2.1)."""

    def answer(self, message: bytes) -> bytes | None:
        (_, body), *_ = ber.elements(message)
        (_, _), (_, community), (_, pdu), *_ = ber.elements(body)
        (_, request), _, _, (_, bindings), *_ = ber.elements(pdu)
        if len(list(ber.elements(bindings))) <= 8:
            return super().answer(message)
        parts = (
            ber.element(ber.INTEGER, request),
            ber.integer(1),
            ber.integer(0),
            ber.sequence(()),
        )
        return ber.sequence(
            (
                ber.integer(1),
                ber.element(ber.OCTETS, community),
                ber.sequence(parts, 0xA2),
            )
        )


async def test_an_agent_of_small_answers_is_asked_for_less() -> None:
    oids: list[Oid] = [(1, 3, 6, 1, 4, 1, 9, n) for n in range(50)]
    agent = Narrow(lambda: {oid: Variable(ber.INTEGER, oid[-1]) for oid in oids})
    await agent.start()
    client = SnmpClient(Target("a", "snmp", agent.address), 0.5, 1, 25)
    wanted = [".".join(map(str, oid)) for oid in oids]
    for _ in range(2):
        found = await client.variables(wanted)
        assert [found[oid].values[0] for oid in wanted] == list(range(50))
    await client.close()
    await agent.stop()
