"""Candidates of these tests, and a server that keeps what it is asked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

from aiohttp import web

from fabrichealth.remediation.order import Candidate, Node


def candidate(name: str = "i7", **changes: Any) -> Candidate:
    """Return a dark host that may be drained, with some facts changed."""
    facts: dict[str, Any] = {
        "incident": name,
        "kind": "device.down",
        "severity": "page",
        "culprit_type": "device",
        "culprit": "host-001",
        "because": "host-001 is dark: all 4 peers\nsay so",
        "action": "Check its power.",
        "page": f"http://fabric.example/#/incident/{name}",
        "safe": True,
        "safe_because": "it is down and carries nothing",
        "nodes": (Node("host-001", safe=True, because="nothing else", safe_for_new=True),),
    }
    return Candidate(**{**facts, **changes})


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Server:
    """Answers each request with `status`, and keeps it."""

    address: str = ""
    status: int = 200
    asked: list[Asked] = field(default_factory=list)


@asynccontextmanager
async def server(secured: SSLContext | None = None) -> AsyncIterator[Server]:
    """Serve on loopback."""
    kept = Server()

    async def answer(request: web.Request) -> web.Response:
        body = await request.read()
        kept.asked.append(Asked(request.method, request.raw_path, dict(request.headers), body))
        return web.Response(status=kept.status, text="{}")

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=secured)
    await site.start()
    port = runner.addresses[0][1]
    kept.address = f"{'https' if secured else 'http'}://127.0.0.1:{port}"
    try:
        yield kept
    finally:
        await runner.cleanup()
