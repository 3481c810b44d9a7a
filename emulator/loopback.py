"""An HTTP server on loopback, for devices that answer over HTTP."""

import base64
import ssl
from collections.abc import Awaitable, Callable

from aiohttp import web

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Loopback:
    """Serves one route; after `stop` it can be started again at the same address."""

    def __init__(self, method: str, path: str, answer: Answer) -> None:
        self._route = (method, path, answer)
        self._runner: web.AppRunner | None = None
        self._port = 0
        self.address = ""
        """Where it answers, once started."""

    async def start(self, context: ssl.SSLContext | None = None) -> None:
        """Answer from now on, on a free port at first."""
        app = web.Application()
        app.router.add_route(*self._route)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, ssl_context=context).start()
        self._port = self._runner.addresses[0][1]
        self.address = f"{'https' if context else 'http'}://127.0.0.1:{self._port}"

    async def stop(self) -> None:
        """Answer nobody any more."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None


def basic(user: str, word: str) -> str:
    """Return the header by which a user and a password are given (RFC 7617)."""
    return f"Basic {base64.b64encode(f'{user}:{word}'.encode()).decode()}"
