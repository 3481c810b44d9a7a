"""NetBox: recorded cables become neighbours of both ends; what cannot be followed is counted."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import netbox as pages
from collectors.protocols.netbox import Cable, End, FrontPort
from collectors.protocols.netbox_paths import paths
from collectors.source import Target
from collectors.sources.netbox import Netbox, NetboxSettings
from emulator.netbox import NetBox
from fabrichealth.catalogue.ports import CABLE_LENGTH, PORT_INFO
from fabrichealth.errors import MalformedReply, SourceUnavailable
from fabrichealth.model import Poll, Reason, SeriesTable
from fabrichealth.topology import Device, Topology
from tests.fixtures import readings

AT = 1_767_225_600.0
LEAF = Device(name="leaf-01", role="switch", ids=("LEAF 1 / row 2",))


class Reader:
    """Reads NetBox, live or from captures, under a small topology."""

    def __init__(self, address: str = "", folder: Path | None = None, **options: str) -> None:
        self.table = SeriesTable()
        own = {
            key: options.pop(key) for key in ("page_size", "header", "timeout") if key in options
        }
        target = Target("netbox", "netbox", address, "", options, Topology([LEAF]))
        self.source = Netbox(NetboxSettings.model_validate(own), target, self.table)
        self._folder = folder

    def captured(self, *bodies: Any) -> Poll:
        assert self._folder is not None
        files = []
        for number, body in enumerate(bodies):
            file = self._folder / f"{number}.json"
            file.write_text(body if isinstance(body, str) else json.dumps(body))
            files.append(file)
        return self.source.captured(files, AT)

    async def read(self) -> Poll:
        try:
            return await self.source.read(AT)
        finally:
            await self.source.close()


def faces(poll: Poll) -> dict[str, str]:
    """Return what each port is said to face."""
    assert {one.via for one in poll.neighbors} <= {"netbox"}
    return {
        f"{one.device}/{one.port}": f"{one.remote_device}/{one.remote_port}"
        for one in poll.neighbors
    }


def both(one: str, other: str) -> dict[str, str]:
    return {one: other, other: one}


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(folder=tmp_path)


Serve = Callable[[web.Application], Awaitable[str]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    servers: list[TestServer] = []

    async def started(app: web.Application) -> str:
        server = TestServer(app)
        await server.start_server()
        servers.append(server)
        return str(server.make_url("/"))

    yield started
    for server in servers:
        await server.close()


def recorded(number: int, **more: Any) -> NetBox:
    """Return so many cables of one leaf."""
    made = NetBox(**more)
    for port in range(number):
        made.cable(f"leaf-09/Ethernet{8 * port}", f"host-{port:03d}/eth0", kind="mmf-om4",
                   length=10 + port)  # fmt: skip
    return made


class TestRecords:
    def test_a_cable_is_told_of_by_both_its_ports(self, reader: Reader) -> None:
        made = NetBox()
        made.cable("LEAF 1 / row 2/Ethernet0", "x", kind="dac-passive", length=150, unit="cm")
        made.cables[0]["a_terminations"][0]["object"] |= {
            "name": "Ethernet0",
            "device": {"id": 1, "name": LEAF.ids[0]},
        }
        made.cables[0]["b_terminations"][0]["object"] |= {
            "name": "eth0", "device": {"id": 2, "name": None, "display": "host/7"},
        }  # fmt: skip
        poll = reader.captured(made.page(made.cables, 50, 0))
        assert faces(poll) == both("leaf-01/Ethernet0", "host_7/eth0")
        ends = {("leaf-01", "Ethernet0"), ("host_7", "eth0")}
        length = readings(poll, reader.table, CABLE_LENGTH)
        assert length == dict.fromkeys(ends, pytest.approx(1.5))
        infos = readings(poll, reader.table, PORT_INFO)
        assert {(*labels[:2], labels[PORT_INFO.labels.index("medium")]) for labels in infos} == {
            (*end, "dac") for end in ends
        }

    @pytest.mark.parametrize("status", ["planned", "decommissioning"])
    def test_what_does_not_lie_there_is_passed_over(self, reader: Reader, status: str) -> None:
        made = recorded(1)
        made.cable("a/1", "b/1", status=status)
        poll = reader.captured(made.page(made.cables, 50, 0))
        assert faces(poll) == both("leaf-09/Ethernet0", "host-000/eth0")
        assert poll.refused == []

    def test_single_ends_of_before_3_3_are_read(self, reader: Reader) -> None:
        cable = {
            "id": 4,
            "termination_a_type": "dcim.interface",
            "termination_a_id": 11,
            "termination_a": {"id": 11, "device": {"id": 1, "name": "leaf-01"}, "name": "swp1"},
            "termination_b_type": "dcim.interface",
            "termination_b_id": 12,
            "termination_b": {"id": 12, "device": {"id": 2, "name": "host-1"}, "name": "eth0"},
            "status": "connected",
            "length": 3,
            "length_unit": "ft",
        }
        poll = reader.captured({"count": 1, "next": None, "results": [cable]})
        assert faces(poll) == both("leaf-01/swp1", "host-1/eth0")
        lengths = readings(poll, reader.table, CABLE_LENGTH)
        assert list(lengths.values()) == pytest.approx([0.9144, 0.9144])

    def test_panels_are_crossed_at_the_same_position(self, reader: Reader) -> None:
        made = NetBox()
        pairs = [(f"leaf-01/{n}", f"host-{n}/eth0") for n in range(3)]
        made.through_panels(pairs, length=5.0)
        poll = reader.captured(made.page(made.cables, 50, 0), made.page(made.front_ports, 50, 0))
        assert faces(poll) == {k: v for pair in pairs for k, v in both(*pair).items()}
        lengths = set(readings(poll, reader.table, CABLE_LENGTH).values())
        assert lengths == {60.0}  # two cords and the trunk

    def test_a_panel_of_which_one_side_is_not_known_ends_the_path(self, reader: Reader) -> None:
        made = recorded(1)
        made.through_panels([("leaf-01/0", "host-0/eth0")])
        poll = reader.captured(made.page(made.cables, 50, 0))
        assert faces(poll) == both("leaf-09/Ethernet0", "host-000/eth0")

    def test_where_netbox_followed_the_path_itself_it_is_believed(self, reader: Reader) -> None:
        row = {
            "id": 7,
            "name": "eth0",
            "device": {"id": 2, "name": "host-1"},
            "connected_endpoints": [
                {"id": 9, "name": "swp1", "device": {"id": 1, "name": "leaf-01"}}
            ],
            "connected_endpoints_type": "dcim.interface",
            "connected_endpoints_reachable": True,
        }
        poll = reader.captured({"results": [row, {**row, "id": 8, "connected_endpoints": None}]})
        assert faces(poll) == both("leaf-01/swp1", "host-1/eth0")

    def test_ends_that_do_not_pair_are_refused_and_the_others_kept(self, reader: Reader) -> None:
        made = recorded(2)
        made.cables[0]["b_terminations"] *= 2
        del made.cables[1]["status"]
        poll = reader.captured(made.page(made.cables, 50, 0), {"results": ["odd"]})
        assert faces(poll) == both("leaf-09/Ethernet8", "host-001/eth0")
        assert [one.reason for one in poll.refused] == [Reason.UNSUPPORTED, Reason.MALFORMED]

    def test_power_cables_are_nobodys_business(self, reader: Reader) -> None:
        made = recorded(1)
        made.cable("pdu-1/1", "host-1/PSU1")
        for side, kind in (("a", "poweroutlet"), ("b", "powerport")):
            made.cables[1][f"{side}_terminations"][0]["object_type"] = f"dcim.{kind}"
        poll = reader.captured(made.page(made.cables, 50, 0))
        assert len(poll.neighbors) == 2
        assert poll.refused == []


class TestOverHttp:
    async def test_all_pages_are_read(self, serve: Serve) -> None:
        made = recorded(25, largest_page=10)
        made.through_panels([("spine-1/1", "leaf-09/Ethernet500")])
        poll = await Reader(await serve(made.application()), page_size="20").read()
        assert len(poll.neighbors) == 2 * 26
        assert poll.missing == []
        assert [one for one in made.asked if "cables" in one] == [
            f"/api/dcim/cables/?limit=20&offset={offset}" for offset in (0, 10, 20)
        ]

    async def test_panels_are_asked_for_only_where_there_are_any(self, serve: Serve) -> None:
        made = recorded(3)
        await Reader(await serve(made.application())).read()
        assert not any("front-ports" in one for one in made.asked)

    @pytest.mark.parametrize(
        ("token", "header"), [("abc", "auto"), ("nbt_x.y", "auto"), ("abc", "bearer")]
    )
    async def test_a_token_opens(
        self, serve: Serve, tmp_path: Path, token: str, header: str
    ) -> None:
        file = tmp_path / "token"
        file.write_text(token + "\n")
        address = await serve(recorded(1, token=token).application())
        poll = await Reader(address, secret_file=str(file), header=header).read()
        assert len(poll.neighbors) == 2

    async def test_a_bad_token_is_one_line_without_the_token(
        self, serve: Serve, tmp_path: Path
    ) -> None:
        file = tmp_path / "token"
        file.write_text("s3cret")
        known = "another word"
        address = await serve(recorded(1, token=known).application())
        said = await refusal(Reader(address, secret_file=str(file)))
        assert "403" in said
        assert "secret_file" in said
        assert "s3cret" not in said

    async def test_html_in_place_of_json_is_one_line_that_says_so(self, serve: Serve) -> None:
        app = web.Application()

        async def login(request: web.Request) -> web.Response:
            return web.Response(text="<html>log in</html>", content_type="text/html")

        app.router.add_get("/{any:.*}", login)
        assert "text/html" in await refusal(Reader(await serve(app)))

    async def test_pages_that_never_end_are_left(self, serve: Serve) -> None:
        made, app = recorded(4), web.Application()

        async def same(request: web.Request) -> web.Response:
            page = made.page(made.cables, 50, 0)
            return web.json_response({**page, "count": 10**6, "next": str(request.url)})

        app.router.add_get("/{any:.*}", same)
        poll = await Reader(await serve(app)).read()
        assert len(poll.neighbors) == 8
        assert poll.missing == ["cables"]
        (lost,) = poll.refused
        assert "nothing new" in str(lost.raw)

    async def test_a_page_that_fails_costs_what_follows_it(self, serve: Serve) -> None:
        made, app = recorded(4), web.Application()

        async def half(request: web.Request) -> web.Response:
            if request.query["offset"] != "0":
                raise web.HTTPBadGateway
            return web.json_response(made.page(made.cables, 2, 0, "http://x/"))

        app.router.add_get("/{any:.*}", half)
        poll = await Reader(await serve(app)).read()
        assert len(poll.neighbors) == 4
        assert poll.missing == ["cables"]
        assert "502" in str(poll.refused[0].raw)

    async def test_a_page_that_hangs_costs_what_follows_it(self, serve: Serve) -> None:
        made, app = recorded(4), web.Application()

        async def half(request: web.Request) -> web.Response:
            if request.query["offset"] != "0":
                await asyncio.sleep(30)
            return web.json_response(made.page(made.cables, 2, 0, "http://x/"))

        app.router.add_get("/{any:.*}", half)
        poll = await Reader(await serve(app), timeout="300ms").read()
        assert len(poll.neighbors) == 4
        assert poll.missing == ["cables"]
        assert str(poll.refused[0].raw) == "no whole page within 0.3 s"

    async def test_an_empty_list_is_no_page_of_netbox(self, serve: Serve) -> None:
        app = web.Application()

        async def nothing(request: web.Request) -> web.Response:
            return web.json_response([])

        app.router.add_get("/{any:.*}", nothing)
        assert "is this the address of NetBox?" in await refusal(Reader(await serve(app)))


async def refusal(reader: Reader) -> str:
    with pytest.raises(SourceUnavailable) as wrong:
        await reader.read()
    told = str(wrong.value)
    assert told.startswith("netbox: ")
    assert "\n" not in told
    return told


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(
        st.sampled_from(["id", "name", "device", "object", "object_id", "object_type", "value"]),
        one,
    ),
    max_leaves=10,
)  # fmt: skip
KEYS = [
    "id", "a_terminations", "b_terminations", "termination_a", "termination_a_type",
    "termination_b_id", "status", "type", "length", "length_unit", "rear_port", "rear_ports",
    "rear_port_position", "connected_endpoints", "connected_endpoint",
    "connected_endpoints_reachable",
]  # fmt: skip


@given(rows=st.lists(st.dictionaries(st.sampled_from(KEYS), PLAIN), max_size=4))
def test_any_results_are_rows_or_counted(rows: list[Any]) -> None:
    found = pages.page(json.dumps({"results": rows}))
    assert len(found.rows) + len(found.malformed) == len(rows)


@given(body=st.binary(max_size=200))
def test_any_bytes_are_a_page_or_malformed(body: bytes) -> None:
    try:
        pages.page(body)
    except MalformedReply:
        return
    assert json.loads(body) is not None


SOCKETS = st.builds(
    End, st.sampled_from(["interface", "frontport", "rearport"]), st.integers(0, 5),
    st.just("d"), st.just("n"),
)  # fmt: skip
ENDS = st.lists(SOCKETS, max_size=2).map(tuple)


@given(
    cables=st.lists(st.builds(Cable, st.integers(0, 9), ENDS, ENDS, st.booleans()), max_size=8),
    fronts=st.lists(
        st.builds(FrontPort, st.integers(0, 5), st.integers(0, 5), st.integers(0, 2)), max_size=6
    ),
)
def test_any_wiring_is_followed_to_an_end(cables: list[Cable], fronts: list[FrontPort]) -> None:
    found = paths(cables, fronts).found
    pairs = [frozenset((path.one.id, path.other.id)) for path in found]
    assert len(pairs) == len(set(pairs))
    assert all(path.one.kind == path.other.kind == "interface" for path in found)
