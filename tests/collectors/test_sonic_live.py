"""The sonic source on a real redis-server: what it costs to lose a part, a password, the server."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("redis")

from collectors.source import Target
from collectors.sources.sonic import Sonic, SonicSettings
from fabrichealth.catalogue import congestion, optics, ports
from fabrichealth.errors import SiteError, SourceUnavailable
from fabrichealth.model import Reason, SeriesTable
from tests import certificates
from tests.collectors import redis_peer
from tests.collectors.redis_peer import RedisPeer
from tests.collectors.sonic_switch import NUMBERS, Databases, changed, switch
from tests.fixtures import readings

pytestmark = pytest.mark.skipif(redis_peer.MISSING, reason="no redis-server: apt-get install redis")

AT = 1_767_225_600.0
E0 = ("leaf-01", "Ethernet0")


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[RedisPeer]:
    started = redis_peer.started(tmp_path)
    yield started
    started.stop()


def filled(peer: RedisPeer, content: Databases) -> None:
    for name, hashes in content.items():
        peer.fill(NUMBERS[name], hashes)


def source(address: str, _table: SeriesTable | None = None, /, **options: str) -> Sonic:
    target = Target("leaf-01", "sonic", address, "", options)
    settings = SonicSettings.model_validate({"timeout": "3s"})
    return Sonic(settings, target, SeriesTable() if _table is None else _table)


async def refused(address: str, **options: str) -> str:
    visitor = source(address, **options)
    try:
        with pytest.raises(SourceUnavailable) as wrong:
            await visitor.read(AT)
    finally:
        await visitor.close()
    assert "\n" not in str(wrong.value)
    return str(wrong.value)


async def test_live_and_captured_say_the_same(peer: RedisPeer, tmp_path: Path) -> None:
    content = switch(4)
    filled(peer, content)
    capture = tmp_path / "capture.json"
    capture.write_text(json.dumps(content))
    table = SeriesTable()
    visitor = source(peer.address, table)
    live = await visitor.read(AT)
    told = source("", table).captured([capture], AT)
    (one,), (other,) = live.batches, told.batches
    assert dict(zip(one.series, one.values, strict=True)) == dict(
        zip(other.series, other.values, strict=True)
    )
    assert live.neighbors == told.neighbors
    assert (live.refused, live.missing) == ([], [])
    again = await visitor.read(AT + 10)
    assert 0 < again.readings < live.readings  # modules and configuration rest
    await visitor.close()


async def test_slow_tables_are_read_at_their_own_pace(peer: RedisPeer) -> None:
    filled(peer, switch(1))
    table = SeriesTable()
    visitor = source(peer.address, table)
    found = [
        (
            bool(readings(poll, table, ports.RX_BYTES)),
            bool(readings(poll, table, optics.TEMPERATURE)),
            bool(readings(poll, table, congestion.ECN_THRESHOLD)),
            bool(poll.neighbors),
        )
        for seconds in (0, 10, 30, 60, 300)
        for poll in [await visitor.read(AT + seconds)]
    ]
    await visitor.close()
    assert found == [
        (True, True, True, True),
        (True, False, False, False),
        (True, False, False, True),
        (True, True, False, True),
        (True, True, True, True),
    ]


async def test_a_hash_of_another_type_costs_itself(peer: RedisPeer) -> None:
    content = changed(switch(2), "COUNTERS_DB", "RATES:oid:0x10000")
    del content["COUNTERS_DB"]["RATES:oid:0x10000"]
    filled(peer, content)
    import redis  # noqa: PLC0415 - only where there is a server

    with redis.Redis(unix_socket_path=str(peer.socket), db=2) as client:
        client.set("RATES:oid:0x10000", "no hash")
    table = SeriesTable()
    visitor = source(peer.address, table)
    poll = await visitor.read(AT)
    await visitor.close()
    assert [(one.reason, one.what) for one in poll.refused] == [
        (Reason.MALFORMED, "RATES:oid:0x10000")
    ]
    assert len(readings(poll, table, ports.RX_BYTES)) == 2


async def test_a_server_that_restarts_is_found_again(peer: RedisPeer, tmp_path: Path) -> None:
    filled(peer, switch(1))
    visitor = source(peer.address)
    before = await visitor.read(AT)
    peer.stop()
    peer.socket.unlink(missing_ok=True)
    with pytest.raises(SourceUnavailable, match="cannot connect"):
        await visitor.read(AT + 60)
    again = redis_peer.started(tmp_path)
    try:
        filled(again, switch(1))
        after = await visitor.read(AT + 300)
    finally:
        again.stop()
        await visitor.close()
    assert after.readings == before.readings


async def test_a_connection_that_the_server_closed_is_made_anew(peer: RedisPeer) -> None:
    filled(peer, switch(1))
    visitor = source(peer.address)
    await visitor.read(AT)
    peer.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    assert (await visitor.read(AT + 10)).missing == []
    await visitor.close()


async def test_a_password_comes_from_a_file_and_is_never_said(tmp_path: Path) -> None:
    peer = redis_peer.started(tmp_path, "--requirepass", "hush-hush")
    secret = tmp_path / "secret"
    try:
        said = [await refused(peer.address)]
        secret.write_text("wrong-one\n")
        said.append(await refused(peer.address, secret_file=str(secret)))
        secret.write_text("hush-hush\n")
        visitor = source(peer.address, secret_file=str(secret))
        poll = await visitor.read(AT)
        await visitor.close()
    finally:
        peer.stop()
    assert poll.readings == 0  # an empty switch, not a refusal
    for text in said:
        assert "secret_file" in text
        assert "wrong-one" not in text


@pytest.mark.skipif(certificates.MISSING, reason="no openssl")
async def test_tls_by_an_unknown_authority_is_refused(tmp_path: Path) -> None:
    mine, other = (certificates.certificate(tmp_path, name) for name in ("mine", "other"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    peer = redis_peer.started(
        tmp_path, "--tls-port", str(port), "--tls-cert-file", str(mine.file),
        "--tls-key-file", str(mine.key), "--tls-auth-clients", "no",
    )  # fmt: skip
    address = f"rediss://127.0.0.1:{port}"
    try:
        filled(peer, switch(1))
        assert "ca_file" in await refused(address, ca_file=str(other.file))
        visitor = source(address, ca_file=str(mine.file))
        poll = await visitor.read(AT)
        await visitor.close()
    finally:
        peer.stop()
    assert poll.readings > 50


@pytest.fixture
def answering() -> Iterator[list[bytes]]:
    """Give a list whose first entry is sent to whoever connects; the second is its address."""
    told: list[bytes] = [b""]
    server = socket.create_server(("127.0.0.1", 0))
    told.append(f"redis://127.0.0.1:{server.getsockname()[1]}".encode())
    stop = threading.Event()

    def serve() -> None:
        server.settimeout(0.05)
        while not stop.is_set():
            try:
                client, _ = server.accept()
            except TimeoutError:
                continue
            client.settimeout(2)
            with client:
                while told[0]:
                    try:
                        if not client.recv(65_536):
                            break
                        client.sendall(told[0] * 5)
                    except OSError:
                        break

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield told
    stop.set()
    thread.join()
    server.close()


async def test_a_server_that_is_loading_is_unavailable_for_now(answering: list[bytes]) -> None:
    answering[0] = b"-LOADING Redis is loading the dataset in memory\r\n"
    assert "loading" in await refused(answering[1].decode())


@pytest.mark.parametrize(
    "garbage",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00\xff" * 40, b":7\r\n", b"$-1\r\n", b"*1\r\n:3\r\n",
     b"*-1\r\n", b"+OK\r\n", b"*2\r\n*0\r\n*0\r\n", b"-ERR unknown command\r\n"],
)  # fmt: skip
async def test_what_is_no_redis_gives_nothing(answering: list[bytes], garbage: bytes) -> None:
    answering[0] = garbage
    visitor = source(answering[1].decode())
    try:
        poll = await visitor.read(AT)
    except SourceUnavailable:
        return
    finally:
        await visitor.close()
    assert poll.readings == 0


async def test_a_server_that_answers_everything_alike_is_no_redis(answering: list[bytes]) -> None:
    answering[0] = b":1\r\n"
    assert "is no Redis; check the address" in await refused(answering[1].decode())


@pytest.mark.parametrize(
    "endless",
    [
        pytest.param(b"$2000000000\r\n" + b"x" * 500_000, id="one long text"),
        pytest.param(b"*2000000000\r\n" + b"$4\r\nabcd\r\n" * 50_000, id="many short ones"),
    ],
)
async def test_what_never_ends_is_left_at_its_largest_size(
    answering: list[bytes], endless: bytes
) -> None:
    answering[0] = endless
    target = Target("leaf-01", "sonic", answering[1].decode())
    given = {"timeout": "5s", "max_bytes": "1MiB"}
    visitor = Sonic(SonicSettings.model_validate(given), target, SeriesTable())
    with pytest.raises(SourceUnavailable, match=r"max_bytes|is no Redis"):
        await visitor.read(AT)
    await visitor.close()


async def test_a_server_that_hangs_costs_no_more_than_its_time(answering: list[bytes]) -> None:
    answering[0] = b"*2000000\r\n"  # a reply that never ends
    target = Target("leaf-01", "sonic", answering[1].decode())
    visitor = Sonic(SonicSettings.model_validate({"timeout": "200ms"}), target, SeriesTable())
    async with asyncio.timeout(20):
        with pytest.raises(SourceUnavailable, match=r"within 0\.2 s"):
            await visitor.read(AT)
    await visitor.close()


async def test_each_namespace_has_its_own_server(tmp_path: Path) -> None:
    peers, rows = [], []
    for number in range(2):
        folder = tmp_path / f"redis{number}"
        (folder / "sonic-db").mkdir(parents=True)
        peer = redis_peer.started(folder)
        peers.append(peer)
        content = switch(1)["COUNTERS_DB"]
        content["COUNTERS_PORT_NAME_MAP"] = {f"Ethernet{8 * number}": "oid:0x10000"}
        peer.fill(2, content)
        known = {
            "INSTANCES": {"redis": {"unix_socket_path": str(peer.socket), "port": 6379}},
            "DATABASES": {name: {"id": n, "instance": "redis"} for name, n in NUMBERS.items()},
        }
        (folder / "sonic-db" / "database_config.json").write_text(json.dumps(known))
        rows.append({"namespace": f"asic{number}",
                     "include": f"redis{number}/sonic-db/database_config.json"})  # fmt: skip
    whole = tmp_path / "database_global.json"
    whole.write_text(json.dumps({"INCLUDES": rows}))
    table = SeriesTable()
    visitor = source(peers[0].address, table, map=str(whole))
    both = await visitor.read(AT)
    peers[1].stop()
    one = await visitor.read(AT + 10)
    await visitor.close()
    peers[0].stop()
    assert {labels[1] for labels in readings(both, table, ports.RX_BYTES)} == {
        "Ethernet0", "Ethernet8",
    }  # fmt: skip
    assert {labels[1] for labels in readings(one, table, ports.RX_BYTES)} == {"Ethernet0"}
    assert "asic1/COUNTERS_DB" in one.missing


@pytest.mark.parametrize(
    ("address", "options"),
    [
        ("redis://", {}),
        ("http://leaf-01", {}),
        ("redis://:hush@leaf-01", {}),
        ("rediss://leaf-01", {"ca_file": "/nowhere/ca.pem"}),
        ("redis://leaf-01", {"fingerprint": "aa"}),
        ("redis://leaf-01", {"map": "/nowhere/database_config.json"}),
    ],
)
def test_what_cannot_be_used_is_said_at_once(address: str, options: dict[str, str]) -> None:
    with pytest.raises(SiteError, match=r"\Aleaf-01: .+\Z") as wrong:
        source(address, **options)
    assert "hush" not in str(wrong.value)
