"""A real redis-server on loopback, filled with hashes of a switch."""

import shutil
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import redis

MISSING = shutil.which("redis-server") is None

Hashes = Mapping[str, Mapping[str, str]]


@dataclass
class RedisPeer:
    """One server with a unix socket, and what stops it."""

    socket: Path
    process: "subprocess.Popen[bytes]"

    @property
    def address(self) -> str:
        """The address of its socket."""
        return f"unix://{self.socket}"

    def fill(self, database: int, content: Hashes) -> None:
        """Write hashes into a database."""
        with redis.Redis(unix_socket_path=str(self.socket), db=database) as client:
            for key, fields in content.items():
                client.hset(key, mapping=dict(fields))

    def run(self, *command: str | int) -> object:
        """Run one command."""
        with redis.Redis(unix_socket_path=str(self.socket)) as client:
            return client.execute_command(*command)

    def stop(self) -> None:
        """End this server."""
        self.process.terminate()
        self.process.wait(10)


def started(folder: Path, *options: str) -> RedisPeer:
    """Start a server whose socket lies in a folder, and wait until it answers."""
    path = folder / "redis.sock"
    process = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", str(path), "--save", "",
         "--appendonly", "no", "--databases", "32", *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
    )  # fmt: skip
    for _ in range(500):
        if _listens(path):
            return RedisPeer(path, process)
        if process.poll() is not None:
            break
        time.sleep(0.01)
    process.kill()
    process.wait()
    raise RuntimeError("redis-server does not start")


def _listens(path: Path) -> bool:
    """Return whether a server takes connections; its file is there a moment earlier."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
