"""Receivers of notifications on loopback: a chat, a webhook, and a mail server that keeps all."""

import email
import json
import socketserver
import threading
from email.message import Message
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOST = "127.0.0.1"


class Recorder:
    """Keeps what it is sent; `address` of HTTP, where the path says who receives, and `mail`."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, Any]] = []
        """(path, JSON body) of each request."""
        self.mails: list[Message] = []
        recorder = self

        class Web(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                recorder.posted.append((self.path, json.loads(body)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        class Mail(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.wfile.write(b"220 here\r\n")
                while line := self.rfile.readline():
                    word = line[:4].upper().strip()
                    if word == b"DATA":
                        self.wfile.write(b"354 go on\r\n")
                        lines = iter(self.rfile.readline, b".\r\n")
                        text = b"".join(one.removeprefix(b".") for one in lines)
                        recorder.mails.append(email.message_from_bytes(text, policy=default))
                    self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 well\r\n")
                    if word == b"QUIT":
                        return

        self._web = ThreadingHTTPServer((HOST, 0), Web)
        self._mail = socketserver.ThreadingTCPServer((HOST, 0), Mail)
        self._mail.daemon_threads = True
        for server in (self._web, self._mail):
            threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self._web.server_port}"

    @property
    def mail(self) -> str:
        return f"{HOST}:{self._mail.server_address[1]}"

    def to(self, path: str, incident: str = "") -> list[Any]:
        """Return what was posted to a path, and speaks of an incident if one is named."""
        return [body for where, body in self.posted
                if where == path and (not incident or f'"{incident}"' in json.dumps(body)
                                      or f"({incident})" in json.dumps(body))]  # fmt: skip

    def close(self) -> None:
        for server in (self._web, self._mail):
            server.shutdown()
            server.server_close()


def quick(route: dict[str, Any]) -> dict[str, Any]:
    """Return a route and those below it with waits of a test's length; repeats stay as they are."""
    waits = {"group_wait": "300ms", "group_interval": "1s"}
    return {
        **{key: waits.get(key, value) for key, value in route.items()},
        **({"routes": [quick(one) for one in route["routes"]]} if "routes" in route else {}),
    }
