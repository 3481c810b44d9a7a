"""The server: /metrics, health, and the handlers of the API that are handed in.

It knows no store and no analyzer: what is shown comes through callables. Bound to loopback
unless told otherwise; who may read and write is `access`'.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from aiohttp import web

from fabrichealth.errors import SiteError, StoreError
from fabrichealth.runtime.exporter_format import Format, takes_gzip, wanted
from fabrichealth.web.access import Access

LOOPBACK = "127.0.0.1"

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Pages(Protocol):
    """What writes /metrics (`fabrichealth.runtime.exporter.Exporter`)."""

    def stream(self, now: float, form: Format, *, gzip: bool) -> AsyncIterator[bytes]:
        """Yield a page piece by piece."""
        ...


HEALTHY, READY = "/-/healthy", "/-/ready"

PROBES = frozenset({HEALTHY, READY})
"""Answered without credentials, which a kubelet has not: whether, and to strangers not why not."""


@dataclass(frozen=True, slots=True)
class Route:
    """A handler of the API: method, path, what answers; `writes` needs the token."""

    method: str
    path: str
    answer: Answer
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listens."""

    address: str
    """`http://127.0.0.1:9480`"""
    runner: web.AppRunner

    async def close(self) -> None:
        """Stop listening and end what is under way."""
        await self.runner.cleanup()


def application(
    pages: Pages,
    now: Callable[[], float],
    *,
    routes: Sequence[Route] = (),
    waiting_for: Callable[[], str] = lambda: "",
    access: Access | None = None,
) -> web.Application:
    """Return the application.

    `now` gives unix seconds; `waiting_for` says in a few words what /-/ready still waits for,
    nothing when all is ready.
    """
    judge = access or Access()
    app = web.Application(middlewares=[_guard(judge, routes)])

    async def with_headers(_: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(judge.headers)

    app.on_response_prepare.append(with_headers)

    async def metrics(request: web.Request) -> web.StreamResponse:
        form = wanted(request.headers.get("Accept", ""))
        gzip = takes_gzip(request.headers.get("Accept-Encoding", ""))
        headers = {"Content-Type": form.value, "Vary": "Accept, Accept-Encoding"}
        response = web.StreamResponse(headers=headers)
        if gzip:
            response.headers["Content-Encoding"] = "gzip"
        await response.prepare(request)
        with suppress(ConnectionResetError):  # who asked has gone
            async for piece in pages.stream(now(), form, gzip=gzip):
                await response.write(piece)
            await response.write_eof()
        return response

    async def healthy(_: web.Request) -> web.Response:
        return web.Response(text="fabrichealth is healthy.\n")

    async def ready(request: web.Request) -> web.Response:
        lacks = waiting_for()
        if lacks:
            known = await judge.may_read(request.headers.get("Authorization", ""))
            why = f": {lacks}" if known else ""
            return web.Response(status=503, text=f"fabrichealth is not ready{why}.\n")
        return web.Response(text="fabrichealth is ready.\n")

    app.router.add_get("/metrics", metrics, allow_head=False)
    app.router.add_get(HEALTHY, healthy)
    app.router.add_get(READY, ready)
    for route in routes:
        app.router.add_route(route.method, route.path, route.answer)
    return app


def _guard(access: Access, routes: Sequence[Route]) -> Callable[..., Awaitable[web.StreamResponse]]:
    writes = {route.answer for route in routes if route.writes}

    @web.middleware
    async def guard(request: web.Request, handler: Answer) -> web.StreamResponse:
        said = request.headers.get("Authorization", "")
        if request.match_info.handler in writes and not access.may_write(said):
            return _denied(
                access, "a bearer token is needed here (bearer_token_file of web_config)"
            )
        if request.path not in PROBES and not await access.may_read(said):
            return _denied(access, "credentials are needed")
        try:
            return await handler(request)
        except ConnectionResetError:  # who asked has gone before an answer began
            return web.Response()
        except StoreError as wrong:
            return web.Response(status=503, text=f"{wrong}\n")

    return guard


def _denied(access: Access, why: str) -> web.Response:
    headers = {"WWW-Authenticate": ", ".join(access.schemes)} if access.schemes else {}
    return web.Response(status=401 if access.schemes else 403, text=f"{why}\n", headers=headers)


def host_and_port(listen: str) -> tuple[str, int]:
    """Return where to listen, for `127.0.0.1:9480`, `[::1]:9480`, `:9480` or `9480` (loopback).

    Raises:
        SiteError: it is no address.
    """
    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65535 or (":" in host and host[:1] != "["):
        raise SiteError(f"listen: {listen!r} is not an address; write {LOOPBACK}:9480")
    return host.strip("[]") or LOOPBACK, int(port)


async def serve(app: web.Application, listen: str, access: Access | None = None) -> Server:
    """Listen; port 0 takes a free one.

    Raises:
        SiteError: the address or the certificates cannot be used.
    """
    host, port = host_and_port(listen)
    tls = (access or Access()).tls()
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, ssl_context=tls).start()
    except OSError as wrong:
        await runner.cleanup()
        raise SiteError(
            f"listen: {listen}: cannot be used ({wrong.strerror}); is it taken, or not ours?"
        ) from None
    taken = runner.addresses[0]
    name = f"[{taken[0]}]" if ":" in taken[0] else taken[0]
    return Server(f"{'https' if tls else 'http'}://{name}:{taken[1]}", runner)
