"""Draws every board into a folder of pictures, from a server that holds a site's series.

    python -m benchmarks.board_pictures http://127.0.0.1:9090 docs/pictures/boards [--hours 2]

The incident, and with it the on-call board, is the gravest one that is open at the end of the span.
"""

import argparse
import shutil
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from dashboards.generate import boards
from dashboards.grafana import dashboard
from fabrichealth.catalogue.verdicts import INCIDENT_ACTIVE
from tests.dashboards.drawing import COLUMN, Prometheus, drawn
from tests.page.conftest import FLAGS


def main() -> None:
    """Draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--end", type=float, default=time.time())
    parser.add_argument("--rate", default="4m", help="window of rates; four scrapes and more")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    given = {"__rate_interval": asked.rate}
    plain = Prometheus(asked.address, asked.end, asked.hours, given)
    worst = plain.answer({"expr": f"topk(1, {INCIDENT_ACTIVE})", "instant": True})
    chosen = given | ({"incident": worst[0].labels["incident"]} if worst else {})
    source = Prometheus(asked.address, asked.end, asked.hours, chosen)
    every = boards()
    with sync_playwright() as drives:
        browser = drives.chromium.launch(executable_path=shutil.which("chromium") or "", args=FLAGS)
        page = browser.new_page(viewport={"width": 24 * COLUMN + 16, "height": 900})
        for name, board in every.items():
            page.set_content(drawn(dashboard(board, every.values()), source))
            page.screenshot(path=asked.folder / f"{name}.png", full_page=True)
            print(asked.folder / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
