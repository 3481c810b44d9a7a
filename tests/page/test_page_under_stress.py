"""The page where something is amiss: the store, the connection, the layout, the address."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from fabrichealth.errors import StoreError
from fabrichealth.kinds import COOLING_LEAK
from fabrichealth.model import Place
from fabrichealth.topology import Device, Topology
from tests.page.conftest import ILL, Watched
from tests.page.standing import NOW, Standing, incident
from tests.page.test_page import slide

LINK = "#/link/" + ILL.replace("/", "%2F")


@pytest.fixture
def other_layout(site: Standing) -> Iterator[Topology]:
    """The same site after a device was found that stands before all others."""
    known = site.topology
    devices = [Device(name="found", role="accelerator", domain="pod-a", rack="r001"),
               *known.devices.values()]  # fmt: skip
    yield Topology(devices, known.links.values(), known.domains.values(), known.racks.values())
    site.lay_out(known)


def look_again(page: Page) -> None:
    """Have the page ask for the present, as it does by itself every 15 seconds."""
    page.get_by_role("button", name="Now").click()


def test_incidents_are_told_while_the_store_does_not_answer(
    watched: Watched, incidents: Standing, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = watched.open(address)
    live = page.locator("#live")
    expect(live).to_have_text("live")

    def away(*asked: object) -> None:
        raise StoreError("http://vm:8428: does not answer (refused); is it running?")

    with monkeypatch.context() as broken:
        broken.setattr(incidents.page, "_states", away)
        look_again(page)
        expect(live).to_contain_text("states are not known: http://vm:8428: does not answer")
        expect(page.locator("#counts")).to_have_text("1 page · 1 ticket")
        expect(page.locator("#map")).to_have_attribute("aria-label", "Fabric: ")
    look_again(page)
    expect(live).to_have_text("live")
    expect(page.locator("#map")).to_have_attribute("aria-label", r"Fabric: 31 Links healthy, "
                                                   "1 Links subhealthy")  # fmt: skip


def test_a_layout_that_changes_moves_no_state_to_another_device(
    watched: Watched, incidents: Standing, address: str, other_layout: Topology
) -> None:
    page = watched.open(address)
    incidents.lay_out(other_layout)
    look_again(page)
    page.locator("#find").fill("found")
    page.keyboard.press("Enter")
    expect(page.locator("#detail h3").first).to_have_text("found")
    page.locator("#find").fill("h000-0-a1")
    page.keyboard.press("Enter")
    expect(page.locator("#detail")).to_contain_text("State: subhealthy")


def test_a_moment_before_everything_is_not_called_well(watched: Watched, address: str) -> None:
    page = watched.open(address)
    slide(page, "#moment", NOW - 6 * 86_400)
    expect(page.locator("#counts")).to_have_text("No readings of this moment: nothing is known.")
    expect(page.locator("#incident-list")).to_contain_text("nothing is known")
    look_again(page)
    expect(page.locator("#counts")).to_have_text("Nothing is wrong that we know of.")


def test_an_answer_that_comes_late_does_not_replace_a_later_moments(
    watched: Watched, incidents: Standing, address: str
) -> None:
    page = watched.open(address)
    held: list[Route] = []
    page.route("**/picture", lambda route: held.append(route))  # noqa: PLW0108 - needs attributes
    with page.expect_request("**/picture"):
        look_again(page)
    slide(page, "#moment", NOW - 6000)
    expect(page.locator("#counts")).to_have_text("1 page")
    assert held
    for late in held:  # the page may have looked once more by itself
        late.continue_()
    page.wait_for_timeout(400)
    expect(page.locator("#live")).to_have_text("past")
    expect(page.locator("#counts")).to_have_text("1 page")


def test_a_comparison_is_told_by_whichever_look_comes_last(
    watched: Watched, incidents: Standing, address: str
) -> None:
    page = watched.open(address)
    page.get_by_label("Compare with").check()
    with page.expect_request("**/picture?at=*"):
        slide(page, "#versus", NOW - 6000)
    leak = incident("i9", COOLING_LEAK, Place("loop", "cdu-1"))
    incidents.tell(leak)  # the page looks again because of it
    expect(page.locator("#detail")).to_contain_text("pfc.storm: h001-1-a3/eth0")


def test_an_incident_that_ends_while_it_is_read_says_so_and_takes_no_focus(
    watched: Watched, incidents: Standing, address: str
) -> None:
    leak = incident("i9", COOLING_LEAK, Place("loop", "cdu-1"))
    incidents.tell(leak)
    page = watched.open(f"{address}/#/incident/i9")
    detail = page.locator("#detail")
    expect(detail).to_contain_text("cooling.leak")
    expect(detail).not_to_contain_text("over since")
    kept = page.locator("#incident-list a").filter(has_text="pfc.storm")
    kept.focus()
    leak.closed_at = NOW
    incidents.tell(leak)
    expect(page.locator("#incident-list li")).to_have_count(2)
    expect(detail).to_contain_text("over since")
    expect(kept).to_be_focused()


def test_what_is_suppressed_is_counted_and_not_called_nothing(
    watched: Watched, site: Standing, address: str
) -> None:
    leak = incident("i9", COOLING_LEAK, Place("loop", "cdu-1"))
    leak.suppressed_by = "maintenance:chg-7"
    site.incidents["i9"] = leak.to_json()
    page = watched.open(address)
    expect(page.locator("#counts")).to_have_text("1 suppressed")
    site.incidents.clear()


def test_a_page_that_is_opened_while_the_daemon_starts_waits_for_it(
    watched: Watched, incidents: Standing, address: str
) -> None:
    page = watched.page
    refusals = [503]

    def starting(route: Route) -> None:
        if refusals:
            route.fulfill(status=refusals.pop(), body="not yet")
        else:
            route.continue_()

    page.route("**/api/v1/layout", starting)
    page.goto(address)
    expect(page.locator("#live")).to_have_text("connection lost, trying again")
    page.wait_for_selector("html[data-ready]")
    expect(page.locator("#counts")).to_have_text("1 page · 1 ticket")
    assert refusals == []
    watched.said.clear()  # the refusals, each told once by the browser and once by us


@pytest.mark.parametrize("place", ["incident/i404", "device/%", "loop/nowhere", "link/a/b--c/d"])
def test_an_address_of_nothing_says_that_there_is_nothing(
    watched: Watched, incidents: Standing, address: str, place: str
) -> None:
    page = watched.open(f"{address}/#/{place}")
    expect(page.locator("#detail")).to_contain_text("There is nothing of this name.")
    expect(page.locator("#live")).to_have_text("live")


def test_a_link_is_found_by_an_address_without_escapes(
    watched: Watched, incidents: Standing, address: str
) -> None:
    page = watched.open(f"{address}/#/link/{ILL}")
    expect(page.locator("#detail h3").first).to_have_text(ILL)


def test_a_narrow_screen_has_all_of_it_without_moving_sideways(
    watched: Watched, incidents: Standing, address: str
) -> None:
    page = watched.open(address)
    page.set_viewport_size({"width": 320, "height": 640})  # 1280 at 400 %, WCAG 2.2 1.4.10
    for place in ("#/incident/i1", LINK, "#/device/h000-0-a1", "#/rack/r000", "#/loop/cdu-0"):
        page.goto(f"{address}/{place}")
        expect(page.locator("#detail h3").first).to_be_visible()
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, place


def test_plots_and_types_speak_chinese(watched: Watched, incidents: Standing, address: str) -> None:
    watched.page.add_init_script("localStorage.setItem('language', 'zh')")
    page = watched.open(address)
    for place in (LINK, "#/device/h000-0-a1", "#/rack/r000", "#/loop/cdu-0"):
        page.goto(f"{address}/{place}")
        titles = page.locator("#detail figcaption")
        expect(titles.first).to_be_visible()
        english = [one for one in titles.all_inner_texts() if one.isascii()]
        assert english == [], place
    page.goto(f"{address}/#/incident/i1")
    expect(page.locator("#detail")).to_contain_text(f"链路 {ILL}")


def test_no_zoom_is_so_far_that_nothing_is_drawn(
    browser: Browser, incidents: Standing, address: str
) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 640}, device_scale_factor=3)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    tall = """async () => {
      const { Map2D } = await import('/page/map.js');
      const { Fabric } = await import('/page/fabric.js');
      const rows = Array.from({ length: 9000 }, (_, n) => n);
      const all = (word) => rows.map((n) => word + (word === 'r' ? Math.floor(n / 64) : n));
      const canvas = document.createElement('canvas');
      const map = new Map2D(canvas, () => {}, () => {});
      map.zoom = 5;
      map.place(new Fabric({ states: [''], racks: [], loops: [], domains: [],
        devices: { name: all('d'), rack: all('r'), host: all('h'), domain: rows.map(() => ''),
                   role: rows.map(() => 'accelerator') },
        links: { a: [], b: [], id: [], technology: [] } }), '', 300);
      map.draw();
      const pen = canvas.getContext('2d');
      return pen.getImageData(0, 0, 300, 300).data.some(Boolean);
    }"""
    assert page.evaluate(tall)
    context.close()


def test_paper_shows_the_whole_list(watched: Watched, incidents: Standing, address: str) -> None:
    for number in range(40):
        incidents.tell(incident(f"m{number}", COOLING_LEAK, Place("loop", f"cdu-{number}")))
    page = watched.open(address)
    listed = page.locator("#incident-list")
    assert listed.evaluate("(one) => one.scrollHeight > one.clientHeight")
    page.emulate_media(media="print")
    assert listed.evaluate("(one) => one.scrollHeight <= one.clientHeight")
