"""An operator at work on a live incident: told, acknowledged, planned, called true, scored."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fabrichealth.catalogue.verdicts import INCIDENT_ACTIVE, INCIDENT_SILENCED
from tests.end_to_end.conftest import MakeSite
from tests.end_to_end.emulated import CABLE, Emulated
from tests.end_to_end.processes import fabrichealth, fetched, until

TOKEN = "let-me-write"  # noqa: S105 - of this test alone


class Desk:
    """A terminal beside a daemon that wants its token."""

    def __init__(self, make: MakeSite, folder: Path) -> None:
        (folder / "token").write_text(f"{TOKEN}\n")
        (folder / "web.yml").write_text("bearer_token_file: token\n")
        self.site = make(web_config=str(folder / "web.yml"))
        self.site.daemon = fabrichealth(self.site.folder / "log", "run", "-c", self.site.file)
        self.where = ("--url", self.site.address, "--token-file", folder / "token")
        self.metrics("fabric_analysis_seconds")
        time.sleep(2.5)  # so that the judge has seen links up

    def said(self, *words: object) -> str:
        """Return what a command says to the daemon; it must end well."""
        return told(*words, *self.where)

    def objects(self, *words: object) -> list[dict[str, Any]]:
        """Return the JSON objects that a command says."""
        return [json.loads(line) for line in self.said(*words, "--json").splitlines()]

    def metrics(self, line: str) -> None:
        """Wait for a line of /metrics that begins so."""
        mine = {"Authorization": f"Bearer {TOKEN}"}
        address = f"{self.site.address}/metrics"
        until(lambda: f"\n{line}" in fetched(address, mine), line)


def told(*words: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "fabrichealth", *map(str, words)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_page_is_acknowledged_planned_called_true_and_becomes_a_corpus(
    site: MakeSite, emulated: Emulated, tmp_path: Path
) -> None:
    desk = Desk(site, tmp_path)
    emulated.fabric.unplugged.add(CABLE)
    (page,) = until(lambda: desk.objects("status"), "the page")
    name = page["incident"]
    (step,) = desk.objects("drain-plan")
    assert (step["incident"], step["safe"]) == (name, True)
    assert "unless it becomes graver" in desk.said("verdict", name, "ack", "--note", "on my way")
    desk.metrics(f'{INCIDENT_SILENCED}{{incident="{name}",said="ack"}} 1')
    desk.metrics(f"{INCIDENT_ACTIVE}{{")
    assert "[somebody is at it]" in desk.said("status")
    assert "on my way" in desk.said("explain", name)
    emulated.fabric.unplugged.clear()
    until(lambda: not desk.objects("status"), "its end")
    desk.said("verdict", name, "true", "--cause", "loose_or_bad_module")
    desk.said("event", "repair", "--link", CABLE, "--action", "reseat", "--for", "1m")
    time.sleep(1.5)  # the store commits once a second
    corpus = tmp_path / "corpus"
    assert "1 truths, 0 false alarms" in told("corpus", corpus, "-c", desk.site.file)
    (truth,) = (json.loads(line) for line in (corpus / "truth.jsonl").read_text().splitlines())
    assert (truth["kind"], truth["cause"]) == ("link.down", "loose_or_bad_module")
    assert truth["culprit"]["id"] == page["culprit"]["id"]
    events = (corpus / "events.jsonl").read_text()
    assert '"repair_start"' in events
    assert '"verdict_' not in events  # they are the truth's, and of ids of this run


def test_maintenance_that_a_person_announced_keeps_its_link_quiet(
    site: MakeSite, emulated: Emulated, tmp_path: Path
) -> None:
    desk = Desk(site, tmp_path)
    desk.said("event", "maintenance", "--link", CABLE, "--for", "1h", "--id", "chg-7")
    emulated.fabric.unplugged.add(CABLE)
    (quiet,) = until(lambda: desk.objects("status"), "the incident")
    assert quiet["suppressed_by"] == "maintenance:chg-7"
    assert "[suppressed by maintenance:chg-7]" in desk.said("status")


def test_what_became_of_a_domain_is_told_by_the_daemon_itself(
    site: MakeSite, emulated: Emulated, tmp_path: Path
) -> None:
    desk = Desk(site, tmp_path)
    emulated.fabric.unplugged.add(CABLE)
    until(lambda: desk.objects("status"), "the page")
    rows = desk.objects("status", "--domain", "pod-a", "--for", "1h")
    hours = [row for row in rows if row["section"] == "hours"]
    assert sum(row["share"] for row in hours) == pytest.approx(1.0)
    whole = {row["phase"] for row in rows if row["section"] == "recovery"}
    assert {"detect", "all"} <= whole
    assert "accelerator-hours went" in desk.said("status", "--domain", "pod-a", "--for", "1h")
