"""A switch with EOS on loopback: eAPI's JSON-RPC over HTTP, its state out of the fabric.

Written from the command API's description. A list of commands
ends with the first that fails: the error's data holds the results before it. It can ask for a
password, lack commands, refuse them, be slow, and answer with a page for people.
"""

import asyncio
import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from emulator.eos import SHOW
from emulator.fabric import Fabric
from emulator.loopback import Loopback, basic


class Refusal(Exception):
    """A command that is not run: eAPI's code and what it says."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


@dataclass
class EapiSwitch:
    """One switch; what is in these fields may change while it serves."""

    fabric: Fabric
    name: str
    password: tuple[str, str] | None = None
    lacking: set[str] = field(default_factory=set)
    """Commands that this platform does not have."""
    forbidden: set[str] = field(default_factory=set)
    """Commands that this user may not run."""
    page: str = ""
    """What is answered instead, whatever is asked."""
    delay: float = 0.0
    """Seconds that every answer takes."""
    slow: dict[str, float] = field(default_factory=dict)
    """Seconds that some commands take beside."""
    asked: list[list[str]] = field(default_factory=list)
    """The lists of commands that came."""
    now: Callable[[], float] | None = None
    """Gives unix seconds, if flows are to be counted up to the moment of asking."""
    _server: Loopback = field(init=False)

    def __post_init__(self) -> None:
        self._server = Loopback("POST", "/command-api", self.answer)

    @property
    def address(self) -> str:
        """Where it answers, once started."""
        return self._server.address

    async def start(self, context: ssl.SSLContext | None = None) -> None:
        """Answer from now on, on loopback."""
        await self._server.start(context)

    async def stop(self) -> None:
        """Answer nobody any more."""
        await self._server.stop()

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one request."""
        if self.name in self.fabric.dark:
            raise web.HTTPServiceUnavailable
        await asyncio.sleep(self.delay)
        if self.password and request.headers.get("Authorization") != basic(*self.password):
            raise web.HTTPUnauthorized(headers={"WWW-Authenticate": 'Basic realm="COMMAND_API"'})
        if self.page:
            return web.Response(text=self.page, content_type="text/html")
        body = json.loads(await request.read())
        commands = body["params"]["cmds"]
        self.asked.append(commands)
        await asyncio.sleep(sum(self.slow.get(command, 0.0) for command in commands))
        return web.json_response({"jsonrpc": "2.0", "id": body["id"], **self.outcome(commands)})

    def outcome(self, commands: list[str]) -> dict[str, Any]:
        """Return `result`, or `error` with the results before it."""
        results: list[Any] = []
        for number, command in enumerate(commands, start=1):
            try:
                results.append(self.run(command))
            except Refusal as wrong:
                said = f"CLI command {number} of {len(commands)} '{command}' failed: {wrong.text}"
                data = [*results, {"errors": [wrong.text]}]
                return {"error": {"code": wrong.code, "message": said, "data": data}}
        return {"result": results}

    def run(self, command: str) -> dict[str, Any]:
        """Return the result of one command now.

        Raises:
            Refusal: it is not run.
        """
        if command in self.forbidden:
            raise Refusal(1005, "Authorization denied for command")
        if command in self.lacking or command not in SHOW:
            raise Refusal(1002, "Invalid input (at token 1)")
        if self.now is not None:
            self.fabric.carry(self.now())
        rows = [
            (port.name.partition("/")[2], port, port.ethernet)
            for port in self.fabric.ports_of(self.name)
            if port.ethernet is not None
        ]
        return SHOW[command](self.fabric, rows)
