"""Chromium, and a site that stands."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from fabrichealth.kinds import LINK_SUBHEALTHY, PFC_STORM, Severity
from fabrichealth.model import Place
from tests.page.standing import NOW, Standing, incident, plan

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WAITS = 20_000.0
"""Milliseconds until a look at the page fails."""

expect.set_options(timeout=WAITS)

ILL = "h000-0-a1/nvlink/0--sw-0/h000-0-a1"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one module: its driver runs an event loop, and other tests need their own."""
    if CHROMIUM is None:
        pytest.skip("no chromium; install the package chromium")
    with sync_playwright() as drives:
        one = drives.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield one
        one.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    one = Standing(tmp_path_factory.mktemp("site"), plan())
    one.lived(ILL, NOW - 1800)
    yield one
    one.close()


@pytest.fixture(scope="module")
def address(site: Standing) -> str:
    return site.serve()


@pytest.fixture
def incidents(site: Standing) -> Iterator[Standing]:
    """The site with an ill link, a storm, and one that is over."""
    for one in (
        incident("i1", LINK_SUBHEALTHY, Place("link", ILL)),
        incident("i2", PFC_STORM, Place("port", "h001-1-a3/eth0"), Severity.TICKET),
        incident("i0", LINK_SUBHEALTHY, Place("link", ILL), opened=NOW - 7000, closed=NOW - 5000),
    ):
        site.incidents[one.incident] = one.to_json()
    yield site
    site.incidents.clear()


class Watched:
    """A page that must not say anything on its console."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        page.on("console", lambda one: self.said.append(one.text))
        page.on("pageerror", lambda one: self.said.append(str(one)))
        page.set_default_timeout(WAITS)

    def open(self, address: str) -> Page:
        """Open an address and wait until the page stands."""
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready]")
        return self.page


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000}, locale="en-GB",
                                  color_scheme="light", reduced_motion="reduce")  # fmt: skip
    one = Watched(context.new_page())
    yield one
    context.close()
    assert one.said == []
