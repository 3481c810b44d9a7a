"""How soon the page stands and how long its picture takes, at 8,192 accelerators.

    python -m benchmarks.page [--racks 128] [--planes 18]

A domain of racks of 64 accelerators, each with a link to a switch of every plane, is served by the
real server from a real store to a real Chromium. Measured are the answers that the page asks for,
the time from opening the address until it stands, and one drawing of all cells; the peer, in the
same browser and run, draws the same cells as SVG elements. Goal: drawn in under 1 s.
"""

import argparse
import shutil
import tempfile
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

from fabrichealth.catalogue.accelerators import UTILIZATION
from fabrichealth.catalogue.devices import DEVICE_UP
from fabrichealth.catalogue.verdicts import LINK_STATE
from tests.page.conftest import FLAGS
from tests.page.standing import NOW, Reading, Standing, plan

GOAL = 1.0
TURNS = 5

DRAW = """async (turns) => {
  const { Fabric } = await import('/page/fabric.js');
  const { Map2D } = await import('/page/map.js');
  const ask = async (path) => (await (await fetch('/api/v1/' + path)).json()).data[0];
  const [layout, picture] = await Promise.all([ask('layout'), ask('picture')]);
  const seconds = [];
  let cells = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const canvas = document.createElement('canvas');
    document.body.append(canvas);
    const began = performance.now();
    const fabric = new Fabric(layout);
    fabric.take(picture);
    const map = new Map2D(canvas, () => {}, () => {});
    map.place(fabric, '', 1300);
    map.draw();
    canvas.getContext('2d').getImageData(0, 0, 1, 1);  // until it is really there
    seconds.push((performance.now() - began) / 1000);
    cells = map.cells;
    canvas.remove();
  }
  const peers = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('width', 1300); svg.setAttribute('height', 1300);
    const began = performance.now();
    for (const cell of cells) {
      const one = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
      one.setAttribute('x', cell.x); one.setAttribute('y', cell.y);
      one.setAttribute('width', 6); one.setAttribute('height', 6);
      one.setAttribute('fill', '#4f9d69');
      svg.append(one);
    }
    document.body.append(svg);
    svg.getBoundingClientRect();
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    peers.push((performance.now() - began) / 1000);
    svg.remove();
  }
  return { seconds, peers, cells: cells.length, links: layout.links.id.length };
}"""


def readings(site: Standing) -> Iterable[Reading]:
    """Yield a moment at which every hundredth link is ill."""
    for name, device in site.topology.devices.items():
        yield DEVICE_UP, (name,), 1.0
        if device.role == "accelerator":
            yield UTILIZATION, (name,), 0.9
    for number, link in enumerate(site.topology.links):
        yield LINK_STATE, (link, "", "subhealthy" if number % 100 == 0 else "healthy"), 1.0


def answered(url: str) -> tuple[float, int]:
    """Return seconds and bytes of an answer, compressed as browsers ask for it."""
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as reply:
        size = len(reply.read())
    return time.perf_counter() - began, size


def stood(page: Page, address: str) -> float:
    """Return the seconds from opening the page until all of it stands."""
    began = time.perf_counter()
    page.goto(address)
    page.wait_for_selector("html[data-ready]", timeout=120_000)
    return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--racks", type=int, default=128)
    parser.add_argument("--planes", type=int, default=18)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as drives:
        site = Standing(Path(folder), plan(asked.racks, 8, 8, asked.planes))
        site.write(NOW, readings(site))
        address = site.serve()
        browser = drives.chromium.launch(executable_path=shutil.which("chromium") or "", args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        for path in ("layout", "picture"):
            answers = [answered(f"{address}/api/v1/{path}") for _ in range(TURNS)]
            (first, size), later = answers[0], median(seconds for seconds, _ in answers)
            print(f"/api/v1/{path}: {first:.2f} s first, {later:.2f} s, {size / 1e6:.2f} MB")
        opened = [stood(page, address) for _ in range(TURNS)]
        found = page.evaluate(DRAW, TURNS)
        browser.close()
        site.close()
    drawn, peer = median(found["seconds"]), median(found["peers"])
    print(f"{found['cells']:,} cells, {found['links']:,} links")
    print(f"opened until it stands: {opened[0]:.2f} s first, {median(opened):.2f} s")
    print(
        f"drawn from its data: {drawn:.3f} s (goal {GOAL:g} s), worst {max(found['seconds']):.3f} s"
    )
    print(f"the cells alone as SVG elements: {peer:.3f} s, {peer / drawn:.1f} times as long")


if __name__ == "__main__":
    main()
