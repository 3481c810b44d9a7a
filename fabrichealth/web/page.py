"""The page at `/`: files of this package, and the plots' library from its installed package.

Nothing comes from another host, and nothing inline runs: names of devices, however hostile, are
text and never markup (the policy below forbids what is left).
"""

from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from aiohttp import web

from fabrichealth.web.server import Route

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy (W3C CSP 3): our own files, our own API, nothing else."""

TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


class Page:
    """Hands out the page's files; small, so they are held."""

    def __init__(self) -> None:
        self._files = {name: _held(name, source) for name, source in sources().items()}

    def routes(self) -> list[Route]:
        """Return the handlers of `/` and of the files it asks for."""
        return [Route("GET", "/", self._front), Route("GET", "/page/{name}", self._file)]

    async def _front(self, request: web.Request) -> web.StreamResponse:
        return self._answer(request, "index.html")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in self._files:
            raise web.HTTPNotFound(text=f"the page has no file {name!r}\n")
        return self._answer(request, name)

    def _answer(self, request: web.Request, name: str) -> web.StreamResponse:
        body, kind, tag = self._files[name]
        headers = {
            "ETag": tag,
            "Cache-Control": "no-cache",
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }
        if request.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers=headers)
        response = web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)
        response.enable_compression()
        return response


def sources() -> Mapping[str, Traversable]:
    """Return the page's files by the names under which they are asked for."""
    own = {one.name: one for one in files("fabrichealth.web").joinpath("static").iterdir()}
    plots = files("youplot").joinpath("vendor")
    return own | {
        "uplot.js": plots.joinpath("uplot.iife.min.js"),
        "uplot.css": plots.joinpath("uplot.min.css"),
    }


def _held(name: str, source: Traversable) -> tuple[bytes, str, str]:
    body = source.read_bytes()
    kind = TYPES[name[name.rindex(".") :]]
    return body, kind, f'"{sha256(body).hexdigest()[:16]}"'
