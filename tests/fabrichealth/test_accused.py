"""What incidents ask of the poller: whose ports are worth watching closely."""

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from fabrichealth.cli._accused import devices, turned
from fabrichealth.cli._api import Api
from fabrichealth.cli._collecting import Collecting
from fabrichealth.cli._site import load
from fabrichealth.runtime.clock import Clock


def incident(type_: str, id_: str, **more: Any) -> dict[str, Any]:
    """Return what the poller looks at of an incident object."""
    plain = {"incident": "i1", "kind": "link.subhealthy", "severity": "ticket", "closed_at": None}
    return {**plain, "suppressed_by": None, "culprit": {"type": type_, "id": id_}, **more}


async def asked(api: Api, path: str) -> list[dict[str, Any]]:
    """Return the rows that an API answers."""
    app = web.Application()
    app.add_routes([web.route(one.method, one.path, one.answer) for one in api.routes()])
    async with TestClient(TestServer(app)) as client, client.get(path) as reply:
        rows: list[dict[str, Any]] = (await reply.json())["data"]
        return rows


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        pytest.param(incident("link", "h1/mlx5_0/1--leaf-01/7"), {"h1", "leaf-01"}, id="both ends"),
        pytest.param(incident("port", "h1/eth0"), {"h1"}, id="a port"),
        pytest.param(incident("device", "leaf-01"), set(), id="a device has many ports"),
        pytest.param(incident("lot", "V/P/2407"), set(), id="a lot is no port"),
        pytest.param(incident("bundle", "mpo-7"), set(), id="a trunk is no port"),
        pytest.param(incident("port", "h1/eth0", closed_at=5.0), set(), id="over"),
        pytest.param(incident("port", "h1/eth0", suppressed_by="boot:h1"), set(), id="excused"),
    ],
)
def test_ends_of_an_open_link_or_port_are_worth_it(told: dict[str, Any], wanted: set[str]) -> None:
    assert devices(told) == wanted


def test_more_of_the_same_evidence_is_no_news() -> None:
    one = incident("port", "h1/eth0")
    assert turned(None, one)
    assert not turned(one, {**one, "score": 2.0, "evidence": [1]})
    assert turned(one, {**one, "severity": "page"})
    assert turned({**one, "suppressed_by": "boot:h1"}, one)


async def test_the_targets_of_an_accused_link_are_read_more_often(tmp_path: Path) -> None:
    for name in ("h1", "h2"):
        (tmp_path / name / "sys/class/net").mkdir(parents=True)
    (tmp_path / "site.yaml").write_text(
        "state: state\nlisten: 127.0.0.1:0\nclose_watch: {incident: 5m, targets: 1, visits: 99}\n"
        "targets:\n  - {name: h1, source: host, root: h1}\n  - {name: h2, source: host, root: h2}\n"
    )
    collecting = Collecting(load(tmp_path / "site.yaml"), Clock(), keep=False)
    await collecting.start()
    try:
        collecting.hear({"incident": incident("link", "h1/eth0--leaf-01/7")})
        (one,) = collecting.poller.closely.close
        assert one.source.target.name == "h1"
        assert one.because == "i1 link.subhealthy"
        (row,) = await asked(Api(collecting), "/api/v1/close-watch")
        assert (row["source"], row["target"]) == ("host", "h1")
        assert (row["because"], row["since"]) == ("i1 link.subhealthy", one.since)
        assert await asked(Api(collecting), "/api/v1/close-watch?target=h2") == []
    finally:
        await collecting.stop()
