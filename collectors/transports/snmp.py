"""SNMP v2c and v3 over UDP: whole columns by GETBULK, from one agent, over one socket.

The sockets are gufo-snmp's, below its asyncio session, which hands out one variable at a time and
so costs twice as much as the rest of a poll. How many rows a request asks for follows from how many
the column had last time; an agent that does not answer is asked for less.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from math import ceil
from socket import AF_INET
from urllib.parse import urlsplit

from gufo.snmp import NoSuchInstance, SnmpAuthError, SnmpError, User
from gufo.snmp._fast import GetIter, SnmpV2cClientSocket, SnmpV3ClientSocket
from gufo.snmp.utils import format_sock_addr

from collectors.protocols.snmp_columns import Answer, Key, key
from collectors.protocols.snmprec import Value
from collectors.source import Target
from collectors.transports.readable import readable
from collectors.transports.secrets import secret
from collectors.transports.snmp_login import Login
from fabrichealth.errors import MalformedReply, SourceUnavailable

SCHEMES = ("snmp",)
PORT = 161

FIRST, LEAST = 25, 5
"""Rows asked for at first contact, and of an agent that loses large answers."""

TOGETHER = 40
"""Variables asked for by one GET at most: their answer fits a packet."""

MOST_ROWS = 20_000
"""A column with more is none of a device's ports, sensors or neighbours."""

FRESH = 100.0
"""Seconds for which an engine's clock is known well enough (RFC 3414 section 2.2.3: 150 s)."""

Socket = SnmpV2cClientSocket | SnmpV3ClientSocket


class SnmpClient:
    """One agent; connects at the first question, and anew after an error.

    Raises:
        SiteError: version, user, auth or priv of the target cannot be.
    """

    def __init__(self, target: Target, answer: float, tries: int, repetitions: int) -> None:
        self._target = target
        self._answer, self._tries, self._most = answer, tries, repetitions
        parts = urlsplit(target.address)
        self._host, self._port = parts.hostname or "", parts.port or PORT
        self.where = f"snmp://{self._host}:{self._port}"
        self._login = Login.of(target)
        self._socket: Socket | None = None
        self._heard = 0.0
        self._rows: dict[str, int] = {}
        self._asked = FIRST
        self._together = TOGETHER

    async def columns(self, oids: Iterable[str]) -> tuple[dict[str, Answer], dict[str, str]]:
        """Return columns as far as the agent has them, and why others cannot be used.

        Raises:
            SourceUnavailable: the agent does not answer, or refuses the user.
        """
        found: dict[str, Answer] = {}
        wrong: dict[str, str] = {}
        for oid in oids:
            socket = await self._connected()
            try:
                found[oid] = await self._column(socket, oid)
            except MalformedReply as why:
                wrong[oid] = str(why)
            except BaseException:
                await self.close()  # an answer may still be under way
                raise
        return found, wrong

    async def variables(self, oids: Sequence[str]) -> dict[str, Answer]:
        """Return single variables as far as the agent has them, many to a question.

        Raises:
            SourceUnavailable: the agent does not answer, or refuses the user.
            MalformedReply: its answers are none.
        """
        found: dict[str, Answer] = {}
        place, together = 0, self._together
        while place < len(oids):
            some = oids[place : place + together]
            socket = await self._connected()
            try:
                answer = await self._got(socket, some)
            except SnmpError as why:
                await self.close()
                if len(some) <= LEAST or isinstance(why, SnmpAuthError):
                    raise MalformedReply(f"the agent's answer is none ({why})") from None
                answer = {}
            except BaseException:
                await self.close()  # an answer may still be under way
                raise
            if not answer and len(some) > LEAST:  # too big for it (tooBig), or none is there
                together = max(len(some) // 2, LEAST)
                continue
            if answer:
                self._together = together
            found |= {oid: Answer((oid,), (value,)) for oid, value in answer.items()}
            place += len(some)
        return found

    async def close(self) -> None:
        """Let go of the socket."""
        self._socket = None

    async def _got(self, socket: Socket, oids: Sequence[str]) -> dict[str, Value]:
        """Ask for some variables, again where no answer comes."""
        for attempt in range(1, self._tries + 1):
            try:
                socket.send_get_many(list(oids))
                async with asyncio.timeout(self._answer):
                    while True:
                        await readable(socket.get_fd())
                        try:
                            return socket.recv_get_many()
                        except BlockingIOError:  # the answer to an earlier question
                            continue
            except NoSuchInstance:
                return {}
            except TimeoutError as wrong:
                if attempt == self._tries:
                    raise SourceUnavailable(self._silence(wrong)) from None
                if isinstance(socket, SnmpV3ClientSocket):
                    socket = await self._reopened()
        raise MalformedReply("the agent's answers are none")

    async def _column(self, socket: Socket, oid: str) -> Answer:
        """Walk one column, for fewer rows at a time where an answer does not come."""
        for attempt in range(1, self._tries + 1):
            try:
                answer = await self._walked(socket, oid)
            except TimeoutError as wrong:
                if attempt == self._tries:
                    raise SourceUnavailable(self._silence(wrong)) from None
                if isinstance(socket, SnmpV3ClientSocket):
                    socket = await self._reopened()
                self._most = max(min(self._most, self._asked) // 2, LEAST)
            except SnmpAuthError:
                if attempt < self._tries and isinstance(socket, SnmpV3ClientSocket):
                    socket = await self._reopened()
                    continue
                raise SourceUnavailable(
                    f"{self._target.name}: {self.where} refuses the user; check user, auth, priv "
                    "and the passphrases in its secret"
                ) from None
            except NoSuchInstance:
                return Answer()
            except SnmpError as why:
                if self._most <= LEAST:
                    raise MalformedReply(f"the agent's answer is none ({why})") from None
                self._most = max(min(self._most, self._asked) // 2, LEAST)
            else:
                self._rows[oid] = len(answer.oids)
                return answer
        raise MalformedReply("the agent's answers are none")

    async def _walked(self, socket: Socket, oid: str) -> Answer:
        """Return what lies below an OID.

        Raises:
            MalformedReply: OIDs do not ascend, or do not end.
        """
        rows = self._rows.get(oid, FIRST - 1) + 1  # the one behind the last ends the walk
        self._asked = ceil(rows / ceil(rows / self._most))
        place = GetIter(oid, self._asked)
        pairs: list[tuple[str, Value]] = []
        before: Key = ()
        while True:
            more = await self._next(socket, place)
            ended = not more or more[-1] is None
            pairs += [pair for pair in more if pair is not None]
            if ended or not pairs:
                break
            last = key(pairs[-1][0])
            if last <= before:
                raise MalformedReply("the agent's OIDs do not ascend")
            if len(pairs) > MOST_ROWS:
                raise MalformedReply(f"more than {MOST_ROWS} rows")
            before = last
        if not pairs:
            return Answer()
        oids, values = zip(*pairs, strict=True)
        return Answer(oids, values)

    async def _next(self, socket: Socket, place: GetIter) -> list[tuple[str, Value] | None]:
        """Ask for the next rows and return them; None stands behind the last of the column.

        Raises:
            TimeoutError: no answer in time.
        """
        socket.send_get_bulk(place)
        async with asyncio.timeout(self._answer):
            while True:
                await readable(socket.get_fd())
                try:
                    return list(socket.recv_get_bulk(place))
                except BlockingIOError:  # the answer to an earlier question
                    continue
                except StopAsyncIteration:  # the end of all that the agent has
                    return [None]

    async def _connected(self) -> Socket:
        """Return the socket, fit for the next question.

        Raises:
            SourceUnavailable: there is no such host, its secret cannot be read, or no engine.
        """
        if self._socket is None:
            self._socket = await self._opened()
        elif (
            isinstance(self._socket, SnmpV3ClientSocket) and time.monotonic() - self._heard > FRESH
        ):
            await self._refreshed(self._socket)
        self._heard = time.monotonic()
        return self._socket

    async def _reopened(self) -> Socket:
        """Return a fresh socket: an engine that started anew heeds no question of before."""
        self._socket = None
        return await self._connected()

    async def _opened(self) -> Socket:
        name = self._target.name
        try:
            found = await asyncio.get_running_loop().getaddrinfo(self._host, self._port)
        except OSError:
            raise SourceUnavailable(
                f"{name}: {self._host} is no known host; check the address"
            ) from None
        known = {family: str(place[0]) for family, _, _, _, place in reversed(found)}
        # of a host with both, the older address: most agents listen there alone
        place = format_sock_addr(known.get(AF_INET) or next(iter(known.values())), self._port)
        word = secret(self._target)
        try:
            if self._login.version == "2c":
                return SnmpV2cClientSocket(place, word or "public", 0, 0, 0, 0)
            nobody = User.default()
            socket = SnmpV3ClientSocket(
                place, b"", nobody.name, nobody.get_auth_alg(), nobody.get_auth_key(),
                nobody.get_priv_alg(), nobody.get_priv_key(), 0, 0, 0, 0,
            )  # fmt: skip
        except OSError as wrong:
            raise SourceUnavailable(f"{name}: no socket for {self.where} ({wrong})") from None
        await self._refreshed(socket)  # which engine it is
        user = self._login.user(word or "")
        socket.set_keys(
            user.name, user.get_auth_alg(), user.get_auth_key(), user.get_priv_alg(),
            user.get_priv_key(),
        )  # fmt: skip
        if self._login.auth:
            await self._refreshed(socket, known=True)  # its clock
        return socket

    async def _refreshed(self, socket: SnmpV3ClientSocket, *, known: bool = False) -> None:
        """Learn engine and clock of a v3 agent."""
        for attempt in range(1, self._tries + 1):
            try:
                socket.send_refresh()
                async with asyncio.timeout(self._answer):
                    while True:
                        await readable(socket.get_fd())
                        try:
                            return socket.recv_refresh()
                        except BlockingIOError:
                            continue
            except TimeoutError as wrong:
                if attempt == self._tries:
                    raise SourceUnavailable(self._silence(wrong, known=known)) from None
            except SnmpError as why:
                raise SourceUnavailable(
                    f"{self._target.name}: {self.where} is no engine of SNMPv3 ({why}); "
                    "check address and version"
                ) from None
        return None

    def _silence(self, wrong: TimeoutError, *, known: bool = True) -> str:
        """Return what may be wrong where nothing comes back."""
        if "refused" in str(wrong):
            return f"{self._target.name}: nothing listens at {self.where}; is the agent up?"
        said = f"{self._target.name}: no answer from {self.where} within {self._answer:g} s"
        if self._login.version == "2c":
            return f"{said}; is it up, and is its community (secret_file, else public) right?"
        if known and self._login.priv:
            return f"{said}, though its engine is known; check priv and the passphrase for it"
        return f"{said}; is it up, and does it speak version 3?"
