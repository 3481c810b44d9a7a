"""What the page asks the daemon for, without a browser."""

import base64
import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import numpy as np
import pytest

from fabrichealth.catalogue.devices import DEVICE_UP
from fabrichealth.catalogue.ports import UP
from fabrichealth.cli._picture import STATES
from tests.page.conftest import ILL
from tests.page.standing import NOW, Standing


def asked(address: str, path: str, **query: str) -> list[dict[str, Any]]:
    """Return the rows of an answer."""
    url = f"{address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=10) as reply:
        rows: list[dict[str, Any]] = json.load(reply)["data"]
    return rows


def refused(address: str, path: str, **query: str) -> tuple[int, str]:
    """Return status and text of a refusal."""
    with pytest.raises(urllib.error.HTTPError) as wrong:
        asked(address, path, **query)
    text = wrong.value.read().decode()
    wrong.value.close()
    return wrong.value.code, text


def states(address: str, what: str = "links", **query: str) -> dict[str, int]:
    """Return the states of links or devices by name."""
    (layout,) = asked(address, "layout")
    (picture,) = asked(address, "picture", **query)
    names = layout["links"]["id"] if what == "links" else layout["devices"]["name"]
    found = np.frombuffer(base64.b64decode(picture[what]), np.uint8)
    assert len(found) == len(names)
    return dict(zip(names, found.tolist(), strict=True))


def test_the_layout_has_every_device_and_link_by_columns(site: Standing, address: str) -> None:
    (layout,) = asked(address, "layout")
    assert layout["devices"]["name"] == list(site.topology.devices)
    assert layout["links"]["id"] == list(site.topology.links)
    names = layout["devices"]["name"]
    ends = {end.device for end in site.topology.links[ILL].ends}
    row = layout["links"]["id"].index(ILL)
    assert {names[layout["links"][side][row]] for side in "ab"} == ends
    assert layout["states"] == list(STATES)


def test_a_picture_is_of_its_moment(site: Standing, address: str) -> None:
    now, before = states(address), states(address, at=str(NOW - 6000))
    assert STATES[now[ILL]] == "subhealthy"
    assert STATES[before[ILL]] == "healthy"
    assert {STATES[one] for link, one in now.items() if link != ILL} == {"healthy"}


def test_before_anything_was_told_nothing_is_said(site: Standing, address: str) -> None:
    assert set(states(address, at="1000").values()) == {0}
    assert set(states(address, "devices", at="1000").values()) == {0}
    assert set(states(address, "busy", at="1000").values()) == {255}


def test_a_port_that_is_down_shows_where_nobody_judged(site: Standing, address: str) -> None:
    link = next(iter(site.topology.links.values()))
    site.write(50_000.0, [(UP, tuple(link.ends[1]), 0.0), (DEVICE_UP, (link.ends[0].device,), 0.0)])
    assert STATES[states(address, at="50001")[link.id]] == "down"
    assert states(address, "devices", at="50001")[link.ends[0].device] == 2


def test_incidents_are_what_they_were_then(incidents: Standing, address: str) -> None:
    then = {
        one["incident"]: one
        for one in asked(address, "picture", at=str(NOW - 6000))[0]["incidents"]
    }
    assert set(then) == {"i0"}
    now = {one["incident"] for one in asked(address, "picture")[0]["incidents"]}
    assert now == {"i1", "i2"}


@pytest.mark.parametrize("at", ["soon", "nan", "inf", ""])
def test_a_moment_that_is_none_is_refused(site: Standing, address: str, at: str) -> None:
    assert refused(address, "picture", at=at) == (400, "at= is unix seconds\n")


def test_a_story_is_what_explain_tells(incidents: Standing, address: str) -> None:
    ((story,)) = asked(address, "story", incident="i1")
    assert story["text"].startswith("i1  link.subhealthy")
    assert refused(address, "story", incident="i99") == (404, "there is no incident 'i99'\n")


def test_files_of_the_page_are_known_again_and_others_are_not_there(
    site: Standing, address: str
) -> None:
    with urllib.request.urlopen(f"{address}/page/main.js", timeout=10) as reply:
        tag = reply.headers["ETag"]
        assert reply.headers["Content-Type"].startswith("text/javascript")
        assert "script-src 'self'" in reply.headers["Content-Security-Policy"]
    again = urllib.request.Request(f"{address}/page/main.js", headers={"If-None-Match": tag})
    with pytest.raises(urllib.error.HTTPError) as same:
        urllib.request.urlopen(again, timeout=10)
    assert same.value.code == 304
    same.value.close()
    for name in ("../server.py", "%2e%2e%2fserver.py", "nothing.js"):
        with pytest.raises(urllib.error.HTTPError) as lost:
            urllib.request.urlopen(f"{address}/page/{name}", timeout=10)
        assert lost.value.code == 404
        lost.value.close()
