"""The server: what it shows, to whom, and what a wrong web-config says."""

import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import aiohttp
import bcrypt
import numpy as np
import pytest
from aiohttp import web

from collectors.source import Target
from collectors.sources.prom import Prom, PromSettings
from fabrichealth.catalogue import ports
from fabrichealth.errors import SiteError, SourceUnavailable
from fabrichealth.model import Batch, SeriesTable
from fabrichealth.runtime.exporter import Exporter
from fabrichealth.web.access import Access, read_access
from fabrichealth.web.server import Route, Server, application, host_and_port, serve
from tests.certificates import MISSING, certificate
from tests.fixtures import readings

LINE = 'fabric_port_up{device="leaf-01",port="1"} 1.0\n'


async def told(request: web.Request) -> web.Response:
    return web.json_response({"data": [request.query.get("link", "")]})


async def written(request: web.Request) -> web.Response:
    return web.json_response(await request.json(), status=202)


ROUTES = (
    Route("GET", "/api/v1/links", told),
    Route("POST", "/api/v1/events", written, writes=True),
)

Started = Callable[..., Awaitable[Server]]


@pytest.fixture
async def started() -> AsyncIterator[Started]:
    """Start servers that show one port."""
    servers: list[Server] = []

    async def start(access: Access | None = None, waiting_for: str = "") -> Server:
        table = SeriesTable()
        exporter = Exporter(table)
        series = table.intern_all([(ports.UP, ("leaf-01", "1"))])
        exporter.observe(Batch(table.clock("prom", "t"), 100.0, series, np.ones(1)))
        app = application(
            exporter, lambda: 100.0, routes=ROUTES, waiting_for=lambda: waiting_for, access=access
        )
        servers.append(await serve(app, "127.0.0.1:0", access))
        return servers[-1]

    yield start
    for server in servers:
        await server.close()


async def ask(
    server: Server, path: str, method: str = "GET", **more: object
) -> tuple[int, str, dict[str, str]]:
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, server.address + path, **more) as response,  # type: ignore[arg-type] # passed on
    ):
        headers = {str(name): value for name, value in response.headers.items()}
        return response.status, await response.text(), headers


async def test_metrics_come_in_the_format_that_was_asked_for(started: Started) -> None:
    server = await started()
    status, text, headers = await ask(server, "/metrics")
    assert (status, text.endswith(LINE)) == (200, True)
    assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert headers["Content-Encoding"] == "gzip"
    asked = {"Accept": "application/openmetrics-text;version=1.0.0", "Accept-Encoding": "identity"}
    _, text, headers = await ask(server, "/metrics", headers=asked)
    assert text.endswith(LINE + "# EOF\n")
    assert headers["Content-Type"].startswith("application/openmetrics-text")
    assert "Content-Encoding" not in headers


async def test_health_and_readiness_are_told_apart(started: Started) -> None:
    waits = await started(waiting_for="the first poll of 3 targets")
    assert (await ask(waits, "/-/healthy"))[0] == 200
    status, text, _ = await ask(waits, "/-/ready")
    assert (status, "first poll of 3 targets" in text) == (503, True)
    assert (await ask(await started(), "/-/ready"))[0] == 200


async def test_probes_need_no_credentials_and_tell_strangers_nothing_but_whether(
    started: Started, tmp_path: Path
) -> None:
    known = bcrypt.hashpw(b"right", bcrypt.gensalt(4)).decode()
    (tmp_path / "web.yml").write_text(f"basic_auth_users: {{ann: {known}}}\n")
    waits = await started(read_access(tmp_path / "web.yml"), "3 targets not visited yet")
    assert (await ask(waits, "/-/healthy"))[:2] == (200, "fabrichealth is healthy.\n")
    assert (await ask(waits, "/-/ready"))[:2] == (503, "fabrichealth is not ready.\n")
    pair = base64.b64encode(b"ann:right").decode()
    _, said, _ = await ask(waits, "/-/ready", headers={"Authorization": f"Basic {pair}"})
    assert said == "fabrichealth is not ready: 3 targets not visited yet.\n"
    assert (await ask(waits, "/metrics"))[0] == 401


async def test_without_a_web_config_everybody_reads_and_nobody_writes(started: Started) -> None:
    server = await started()
    assert (await ask(server, "/api/v1/links?link=a--b"))[1] == '{"data": ["a--b"]}'
    assert (await ask(server, "/api/v1/events", "POST", json={"at": 1}))[0] == 403


async def test_passwords_let_read_and_the_token_lets_write(
    started: Started, tmp_path: Path
) -> None:
    known = bcrypt.hashpw(b"right", bcrypt.gensalt(4)).decode()
    (tmp_path / "token").write_text("t0ken\n")
    file = tmp_path / "web.yml"
    file.write_text(
        f"basic_auth_users: {{ann: {known}}}\nbearer_token_file: token\n"
        "http_server_config: {headers: {X-Frame-Options: deny}}\n"
    )
    server = await started(read_access(file))
    for name, password, status in (
        ("ann", "right", 200), ("ann", "right", 200), ("ann", "wrong", 401), ("bob", "right", 401),
        ("bob", "", 401),
    ):  # fmt: skip
        pair = base64.b64encode(f"{name}:{password}".encode()).decode()
        asked = {"Authorization": f"Basic {pair}"}
        assert (await ask(server, "/metrics", headers=asked))[0] == status
        assert (await ask(server, "/api/v1/events", "POST", headers=asked, json={}))[0] == 401
    status, _, headers = await ask(server, "/")
    assert status == 401
    assert headers["X-Frame-Options"] == "deny"
    for said, status in (
        ("Basic !", 401),
        ("Bearer t0ken", 200),
        ("Bearer t0kem", 401),
        ("x", 401),
    ):
        asked = {"Authorization": said}
        assert (await ask(server, "/metrics", headers=asked))[0] == status
        written = await ask(server, "/api/v1/events", "POST", headers=asked, json={"at": 1})
        assert written[0] == (202 if status == 200 else 401)
    (tmp_path / "token").write_text("")  # an empty token is none
    assert (await ask(server, "/metrics", headers={"Authorization": "Bearer "}))[0] == 401


async def read(server: Server, **options: str) -> dict[tuple[str, ...], float]:
    """Read our own /metrics with our own prom source."""
    table = SeriesTable()
    target = Target("t", "prom", server.address + "/metrics", "", options)
    source = Prom(PromSettings(), target, table)
    try:
        return readings(await source.read(100.0), table, ports.UP)
    finally:
        await source.close()


@pytest.mark.skipif(MISSING, reason="openssl is not installed")
async def test_certificates_are_judged_by_ca_or_fingerprint(
    started: Started, tmp_path: Path
) -> None:
    ours, other = certificate(tmp_path, "ours"), certificate(tmp_path, "other")
    file = tmp_path / "web.yml"
    file.write_text("tls_server_config: {cert_file: ours.pem, key_file: ours.key}\n")
    server = await started(read_access(file))
    assert server.address.startswith("https://")
    up = {("leaf-01", "1"): 1.0}
    assert await read(server, ca_file=str(ours.file)) == up
    assert await read(server, fingerprint=ours.fingerprint) == up
    for options, says in (
        ({}, "certificate"),
        ({"ca_file": str(other.file)}, "certificate"),
        ({"fingerprint": other.fingerprint}, "fingerprint"),
    ):
        with pytest.raises(SourceUnavailable, match=says) as error:
            await read(server, **options)
        assert "\n" not in str(error.value)


@pytest.mark.skipif(MISSING, reason="openssl is not installed")
async def test_clients_without_a_certificate_are_turned_away(
    started: Started, tmp_path: Path
) -> None:
    ours, client = certificate(tmp_path, "ours"), certificate(tmp_path, "client")
    file = tmp_path / "web.yml"
    file.write_text(
        "tls_server_config:\n  cert_file: ours.pem\n  key_file: ours.key\n"
        "  client_ca_file: client.pem\n"
    )
    server = await started(read_access(file))
    context = ssl.create_default_context(cafile=str(ours.file))
    with pytest.raises(aiohttp.ClientError):
        await ask(server, "/-/healthy", ssl=context)
    context.load_cert_chain(client.file, client.key)
    assert (await ask(server, "/-/healthy", ssl=context))[0] == 200


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("basic_auth_users: {ann: secret}", "1: basic_auth_users.ann: not a bcrypt hash"),
        ("\ntls_server_config: {cert_file: a}", "2: tls_server_config.key_file: is missing"),
        ("rate_limit: {interval: 1s}", "1: rate_limit: unknown key"),
        (
            "tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequestClientCert}",
            "not supported",
        ),
    ],
)
def test_a_fault_in_the_web_config_is_named(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "web.yml"
    file.write_text(text)
    with pytest.raises(SiteError) as error:
        read_access(file)
    assert says in str(error.value)
    assert str(error.value).startswith(str(file))
    assert "secret" not in str(error.value)


async def test_an_address_that_is_taken_or_none_is_a_line(started: Started, tmp_path: Path) -> None:
    server = await started()
    app = application(Exporter(SeriesTable()), lambda: 0.0)
    with pytest.raises(SiteError, match="cannot be used"):
        await serve(app, server.address.removeprefix("http://"))
    file = tmp_path / "web.yml"
    file.write_text("tls_server_config: {cert_file: none.pem, key_file: none.key}\n")
    with pytest.raises(SiteError, match="PEM"):
        await serve(app, "127.0.0.1:0", read_access(file))
    assert host_and_port("[::1]:9480") == ("::1", 9480)
    assert host_and_port(":9480") == host_and_port("9480") == ("127.0.0.1", 9480)
    for wrong in ("localhost", "::1:9480", "h:99999", ""):
        with pytest.raises(SiteError, match="not an address"):
            host_and_port(wrong)
