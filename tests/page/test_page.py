"""What an engineer on call sees and does on the page, in a real Chromium."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from fabrichealth.catalogue.congestion import PAUSE_WAIT
from fabrichealth.kinds import COOLING_LEAK, PFC_STORM, Severity
from fabrichealth.model import Evidence, Place
from tests.page.conftest import ILL, Watched
from tests.page.standing import NOW, Standing, incident


def rows(page: Page) -> list[str]:
    """Return the incidents listed."""
    return [one.inner_text() for one in page.locator("#incident-list strong").all()]


def slide(page: Page, slider: str, at: float) -> None:
    """Move a slider of time to a moment."""
    page.locator(slider).evaluate(
        "(input, at) => { input.value = Math.floor(at / 60); "
        "input.dispatchEvent(new Event('input', {bubbles: true})); }", at
    )  # fmt: skip


def test_incidents_are_listed_gravest_first_with_what_to_do(
    watched: Watched, incidents: Standing, address: str
) -> None:
    page = watched.open(address)
    assert rows(page) == [f"link.subhealthy: {ILL}", "pfc.storm: h001-1-a3/eth0"]
    first = page.locator("#incident-list li").first
    for words in ("damaged_fiber", "confidence 80 %", "Safe to drain: yes", "Clean the connector"):
        expect(first).to_contain_text(words)
    expect(page.locator("#counts")).to_have_text("1 page · 1 ticket")


def test_an_incident_appears_and_goes_while_one_looks(
    watched: Watched, incidents: Standing, address: str
) -> None:
    page = watched.open(address)
    assert len(rows(page)) == 2
    leak = incident("i9", COOLING_LEAK, Place("loop", "cdu-1"))
    incidents.tell(leak)
    expect(page.locator("#incident-list")).to_contain_text("cooling.leak: cdu-1")
    leak.closed_at = NOW
    incidents.tell(leak)
    expect(page.locator("#incident-list")).not_to_contain_text("cooling.leak")


def test_an_incident_opens_with_its_story_and_leads_to_its_link(
    watched: Watched, incidents: Standing, address: str
) -> None:
    page = watched.open(address)
    page.get_by_role("link", name=f"link.subhealthy: {ILL}").click()
    detail = page.locator("#detail")
    expect(detail.locator("pre")).to_contain_text("i1")
    expect(detail).to_contain_text("contaminated_connector 20 %")
    expect(detail).to_contain_text("device h000-0")
    detail.get_by_role("link", name=f"link {ILL}").click()
    expect(detail.get_by_role("heading", name=ILL, exact=True)).to_be_visible()
    expect(detail).to_contain_text("State: subhealthy")
    health = detail.get_by_role("img", name="Health")
    expect(health.locator("canvas")).to_be_visible()
    expect(detail.get_by_role("img", name="Symbol errors /s")).to_have_attribute(
        "aria-label", "Symbol errors /s: h000-0-a1 3, sw-0 3"
    )
    expect(detail.get_by_role("img", name="Light received, dBm")).to_be_visible()


def test_the_picture_says_in_words_what_it_shows(
    watched: Watched, incidents: Standing, address: str
) -> None:
    page = watched.open(address)
    label = page.locator("#map").get_attribute("aria-label") or ""
    assert "31 Links healthy" in label
    assert "1 Links subhealthy" in label


def test_everything_can_be_done_by_keyboard(
    watched: Watched, incidents: Standing, address: str
) -> None:
    page = watched.open(address)
    page.locator("#map").focus()
    page.keyboard.press("Home")
    cursor = page.locator("#cursor")
    expect(cursor).to_contain_text("r000")
    seen = set()
    for _ in range(12):
        seen.add(cursor.inner_text().split(" · ")[0])
        page.keyboard.press("ArrowRight")
    for _ in range(12):
        seen.add(cursor.inner_text().split(" · ")[0])
        page.keyboard.press("ArrowDown")
    assert len(seen) > 4
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator("#detail h3").first).to_contain_text("h001-1")
    expect(page.locator("#detail-title")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#incidents")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#detail")).to_contain_text("i1")


def test_a_past_moment_is_shown_as_it_was(
    watched: Watched, incidents: Standing, address: str
) -> None:
    page = watched.open(address)
    slide(page, "#moment", NOW - 6000)
    expect(page.locator("#live")).to_have_text("past")
    expect(page.locator("#counts")).to_have_text("1 page")
    expect(page.locator("#map")).not_to_have_attribute("aria-label", "subhealthy")
    label = page.locator("#map").get_attribute("aria-label") or ""
    assert "32 Links healthy" in label
    page.get_by_role("button", name="Now").click()
    expect(page.locator("#live")).to_have_text("live")
    expect(page.locator("#counts")).to_have_text("1 page · 1 ticket")


def test_two_moments_are_compared(watched: Watched, incidents: Standing, address: str) -> None:
    page = watched.open(address)
    page.get_by_label("Compare with").check()
    slide(page, "#versus", NOW - 6000)
    detail = page.locator("#detail")
    expect(detail).to_contain_text("pfc.storm: h001-1-a3/eth0")
    expect(page.locator("#legend")).to_contain_text("worse")
    page.wait_for_function(PAINTED, arg="--worse")  # the cells of the ill link's two ends


PAINTED = """(name) => {
  const canvas = document.getElementById('map');
  const probe = document.createElement('canvas').getContext('2d');
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  probe.fillRect(0, 0, 1, 1);
  const color = probe.getImageData(0, 0, 1, 1).data;
  const all = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let found = 0;
  for (let at = 0; at < all.length; at += 4) {
    found += all[at] === color[0] && all[at + 1] === color[1] && all[at + 2] === color[2];
  }
  return found > 100;
}"""


def test_it_speaks_chinese(watched: Watched, incidents: Standing, address: str) -> None:
    page = watched.open(address)
    page.get_by_role("button", name="中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(page.locator("#incidents")).to_have_text("事件")
    expect(page.locator("#incident-list")).to_contain_text(f"链路亚健康: {ILL}")
    expect(page.locator("#incident-list")).to_contain_text("光纤受损")
    page.reload()
    expect(page.locator("#fabric-title")).to_have_text("互连网络")
    page.get_by_role("button", name="English").click()
    expect(page.locator("#incidents")).to_have_text("Incidents")


def test_every_kind_of_incident_and_cause_has_its_chinese(watched: Watched, address: str) -> None:
    from fabrichealth.kinds import KINDS, Cause  # noqa: PLC0415 - only here

    page = watched.open(address)
    names = [*KINDS, *(str(cause) for cause in Cause), *(str(one) for one in Severity)]
    missing = page.evaluate(
        """async (names) => {
          const words = await import('/page/words.js');
          words.speak('zh');
          return names.filter((name) => words.say(name) === name);
        }""",
        names,
    )
    assert missing == []


def test_a_storm_shows_who_waits_for_whom(
    watched: Watched, incidents: Standing, address: str
) -> None:
    waits = [("sw-0/a", "h001-1-a3/eth0", 0.9), ("h000-0-a0/eth0", "sw-0/a", 0.8),
             ("h000-0-a1/eth0", "sw-0/a", 0.4)]  # fmt: skip
    evidence = [
        Evidence(PAUSE_WAIT, {"waiting": a, "blocking": b, "priority": "3"}, share, None, "", NOW,
                 f"{a} waits for {b}")
        for a, b, share in waits
    ]  # fmt: skip
    culprit = Place("port", "h001-1-a3/eth0")
    incidents.tell(incident("i2", PFC_STORM, culprit, Severity.TICKET, evidence=evidence))
    page = watched.open(f"{address}/#/incident/i2")
    tree = page.locator("#detail svg")
    expect(tree).to_have_attribute("aria-label", "sw-0/a waits for h001-1-a3/eth0, 90 %; "
                                   "h000-0-a0/eth0 waits for sw-0/a, 80 %; "
                                   "h000-0-a1/eth0 waits for sw-0/a, 40 %")  # fmt: skip
    boxes = {text: tree.get_by_text(text, exact=True).bounding_box()
             for text in ("h000-0-a0/eth0", "sw-0/a", "h001-1-a3/eth0")}  # fmt: skip
    lefts = [box["x"] for box in boxes.values() if box]
    assert lefts == sorted(lefts)
    expect(tree.locator("rect.origin")).to_have_count(1)


HOSTILE = "<img src=x onerror=console.log(1)>\"'&lt;\n{{x}} `é"


def test_hostile_names_are_text(watched: Watched, incidents: Standing, address: str) -> None:
    incidents.tell(incident("i7", COOLING_LEAK, Place("loop", HOSTILE)))
    page = watched.open(address)
    assert f"cooling.leak: {HOSTILE}".replace("\n", " ") in rows(page)
    page.locator("#incident-list a").filter(has_text="onerror").click()
    expect(page.locator("#detail")).to_contain_text("<img src=x onerror")
    assert page.locator("#detail img, #incident-list img").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("place", ["", "#/incident/i1", f"#/link/{ILL}", "#/rack/r000"])
def test_it_is_accessible(
    watched: Watched, incidents: Standing, address: str, theme: str, place: str
) -> None:
    page = watched.page
    page.add_init_script(f"localStorage.setItem('theme', '{theme}')")
    watched.open(f"{address}/{place.replace('/nvlink', '%2Fnvlink').replace('/h0', '%2Fh0')}")
    page.wait_for_timeout(300)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_what_nothing_is_known_of_is_said_to_be_so(watched: Watched, address: str) -> None:
    page = watched.open(f"{address}/#/device/nobody")
    expect(page.locator("#detail")).to_contain_text("There is nothing of this name.")
    expect(page.locator("#incident-list")).to_contain_text("Nothing is wrong that we know of.")


def test_it_asks_no_other_host(watched: Watched, incidents: Standing, address: str) -> None:
    asked: list[str] = []
    watched.page.on("request", lambda one: asked.append(one.url))
    page = watched.open(address)
    page.locator("#incident-list a").first.click()
    expect(page.locator("#detail pre")).to_be_visible()
    assert len(asked) > 10
    assert all(url.startswith((address, "data:")) for url in asked)
