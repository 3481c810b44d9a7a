"""An emulated NetBox: cables, front ports and tokens over its REST API, written from its schema.

Pages as the real one serves them: `limit` and `offset`, `next` while there is more, 403 for a token
that it does not know. Cables may run through patch panels, whose ports carry on at the same
position behind the trunk.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Document = dict[str, Any]


@dataclass
class NetBox:
    """Records cables between ports `device/port`; serves them to who has the token."""

    token: str = ""
    """Without it everybody may read."""
    largest_page: int = 1000
    cables: list[Document] = field(default_factory=list)
    front_ports: list[Document] = field(default_factory=list)
    _ids: int = 0
    asked: list[str] = field(default_factory=list)
    """Paths and queries of all requests, in order."""

    def cable(
        self,
        one: str,
        other: str,
        *,
        status: str = "connected",
        kind: str = "",
        length: float | None = None,
        unit: str = "m",
    ) -> None:
        """Record one cable between two interfaces."""
        ends = (self._interface(one), self._interface(other))
        self._record(*ends, status=status, kind=kind, length=length, unit=unit)

    def through_panels(self, pairs: Iterable[tuple[str, str]], *, length: float = 5.0) -> None:
        """Record pairs of interfaces that meet through two panels and the trunk between."""
        near, far = self._id(), self._id()
        self._record(("dcim.rearport", near, "panel-1", "trunk"),
                     ("dcim.rearport", far, "panel-2", "trunk"), length=10 * length)  # fmt: skip
        for position, (one, other) in enumerate(pairs, start=1):
            for end, rear, panel in ((one, near, "panel-1"), (other, far, "panel-2")):
                front = self._id()
                self.front_ports.append(
                    {
                        "id": front,
                        "device": {"id": rear, "name": panel},
                        "name": f"{position}",
                        "rear_port": {"id": rear, "name": "trunk"},
                        "rear_port_position": position,
                    }
                )
                socket = ("dcim.frontport", front, panel, f"{position}")
                self._record(self._interface(end), socket, kind="smf", length=length)

    def application(self) -> web.Application:
        """Return the API as an aiohttp application."""
        app = web.Application()
        app.router.add_get("/api/dcim/cables/", self._listing(self.cables))
        app.router.add_get("/api/dcim/front-ports/", self._listing(self.front_ports))
        return app

    def page(self, rows: list[Document], limit: int, offset: int, url: str = "") -> Document:
        """Return one page of rows."""
        shown = rows[offset : offset + limit]
        more = offset + limit < len(rows)
        following = f"{url}?limit={limit}&offset={offset + limit}" if more else None
        return {"count": len(rows), "next": following, "previous": None, "results": shown}

    def _listing(self, rows: list[Document]) -> Any:
        async def answer(request: web.Request) -> web.Response:
            self.asked.append(request.path_qs)
            sent = request.headers.get("Authorization", "")
            if self.token and sent not in {f"Token {self.token}", f"Bearer {self.token}"}:
                return web.json_response({"detail": "Invalid token"}, status=403)
            limit = min(int(request.query.get("limit", "50")), self.largest_page)
            offset = int(request.query.get("offset", "0"))
            return web.json_response(
                self.page(rows, limit, offset, str(request.url.with_query("")))
            )

        return answer

    def _id(self) -> int:
        self._ids += 1
        return self._ids

    def _interface(self, port: str) -> tuple[str, int, str, str]:
        device, _, name = port.partition("/")
        return "dcim.interface", self._id(), device, name

    def _record(
        self,
        one: tuple[str, int, str, str],
        other: tuple[str, int, str, str],
        *,
        status: str = "connected",
        kind: str = "",
        length: float | None = None,
        unit: str = "m",
    ) -> None:
        self.cables.append(
            {
                "id": self._id(),
                "type": kind,
                "a_terminations": [_termination(*one)],
                "b_terminations": [_termination(*other)],
                "status": {"value": status, "label": status.title()},
                "length": length,
                "length_unit": None if length is None else {"value": unit, "label": unit},
            }
        )


def _termination(kind: str, number: int, device: str, name: str) -> Document:
    inside = {"id": number, "device": {"id": 1, "name": device}, "name": name}
    return {"object_type": kind, "object_id": number, "object": inside}
