"""With a real Prometheus, VictoriaMetrics and Alertmanager: scraped, ruled, told, shown."""

import copy
import json
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from alerts.alertmanager import config
from alerts.generate import FOLDER as ALERTS
from alerts.generate import RULES, alerts
from dashboards.check import metrics_of, substituted
from dashboards.generate import boards
from dashboards.grafana import dashboard
from emulator.fabric import Rates
from fabrichealth.catalogue import METRICS
from fabrichealth.catalogue.ports import PORT_INFO, UP
from tests.alerts.recorder import Recorder, quick
from tests.conformance.test_every_metric import KNOWN_REMARKS
from tests.end_to_end.emulated import CABLE, PLAN, Emulated, Site
from tests.end_to_end.processes import (
    Running,
    alertmanager,
    answered,
    fetched,
    needs,
    prometheus,
    status,
    until,
    victoria_metrics,
)

pytestmark = [
    needs(one) for one in ("prometheus", "prometheus-alertmanager", "promtool", "victoria-metrics")
]


@dataclass
class Watched:
    """A site, and the servers that watch it."""

    site: Site
    emulated: Emulated
    prometheus: str
    victoria_metrics: str
    alertmanager: str
    recorder: Recorder

    def asked(self, query: str, server: str = "") -> list[dict[str, Any]]:
        """Return what Prometheus, or another server, answers to an instant query."""
        found = answered(f"{server or self.prometheus}/api/v1/query?query={quote(query)}")
        assert found["status"] == "success", found
        return list(found["data"]["result"])

    def alerts(self, name: str) -> list[dict[str, Any]]:
        """Return the alerts of a name that Alertmanager holds to be active."""
        found = answered(f"http://{self.alertmanager}/api/v2/alerts?active=true") or []
        return [one for one in found if one["labels"]["alertname"] == name]


def routes(recorder: Recorder) -> dict[str, Any]:
    """Return our configuration with waits of a test's length, and a webhook for pages."""
    hook = {"url": f"{recorder.address}/hook", "send_resolved": True}
    plain = copy.deepcopy(config())
    del plain["templates"]
    plain["route"] = quick(plain["route"])
    plain["receivers"][0]["webhook_configs"] = [hook]
    return plain


HOLD = 15
"""Seconds: more than a busy machine takes to open an incident, where the rule itself has 5 min."""


def rules(folder: Path) -> Path:
    """Write the rules; a port that is down is told soon, since nobody waits five minutes."""
    plain = yaml.safe_load((ALERTS / RULES).read_text())
    for rule in plain["groups"][0]["rules"]:
        if rule["alert"] == "FabricPortDown":
            rule |= {"for": f"{HOLD}s", "labels": {"severity": "page"}}
    (folder / "rules.yaml").write_text(yaml.safe_dump(plain))
    return folder / "rules.yaml"


@pytest.fixture(scope="module")
def watched(emulated: Emulated, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    started: list[Running] = []
    recorder = Recorder()
    try:
        running, told = alertmanager(folder, plain=routes(recorder))
        started.append(running)
        notify = [{"kind": "alertmanager", "url": f"http://{told}"}]
        (folder / "signing").write_text("s3cret")
        hook = {"kind": "webhook", "url": f"{recorder.address}/drain", "dry_run": False}
        hook |= {"signing_file": str(folder / "signing"), "kinds": ["link.down"]}
        site = Site(folder / "site", emulated, notify=notify, remediate=[hook])
        started.append(site.start())
        running, address = prometheus(folder, site.listen, rules(folder), told)
        started.append(running)
        running, other = victoria_metrics(folder, site.listen)
        started.append(running)
        site.judged()
        yield Watched(site, emulated, address, other, told, recorder)
    finally:
        recorder.close()
        for one in reversed(started):
            one.end()


def test_promtool_has_nothing_new_to_say_of_our_page(watched: Watched) -> None:
    page = fetched(f"{watched.site.address}/metrics")
    assert page.count("\n") > 200
    check = subprocess.run(
        ["promtool", "check", "metrics"], input=page, capture_output=True, text=True, check=False
    )
    assert check.returncode in {0, 3}, check.stderr
    remarks = (check.stdout + check.stderr).splitlines()
    assert [line for line in remarks if not line.endswith(KNOWN_REMARKS)] == []


def test_prometheus_takes_every_sample(watched: Watched) -> None:
    until(lambda: watched.asked("up == 1"), "a scrape")
    page = fetched(f"{watched.site.address}/metrics")
    lines = sum(bool(line) and not line.startswith("#") for line in page.splitlines())
    (scraped,) = watched.asked("scrape_samples_scraped")
    assert abs(int(scraped["value"][1]) - lines) <= 0.1 * lines
    assert {one["health"] for one in _rules(watched)} == {"ok"}


def _rules(watched: Watched) -> list[dict[str, Any]]:
    groups = answered(f"{watched.prometheus}/api/v1/rules")["data"]["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_a_pulled_cable_is_one_alert_until_it_is_plugged_in_again(watched: Watched) -> None:
    fabric = watched.emulated.fabric
    fabric.unplugged.add(CABLE)
    (alert,) = until(lambda: watched.alerts("FabricIncidentPage"), "the page")
    labels = alert["labels"]
    assert (labels["kind"], labels["culprit"]) == ("link.down", CABLE)
    assert labels["severity"] == "page"
    (incident,) = watched.site.incidents(kind="link.down", open="true")
    assert labels["incident"] == incident["incident"]
    query = 'ALERTS{alertname="FabricIncidentPage",alertstate="firing"}'
    (firing,) = until(lambda: watched.asked(query), "Prometheus' own alert")
    assert firing["metric"]["incident"] == incident["incident"]
    (raw,) = [alert for alert in alerts() if alert.name == "FabricPortDown"]
    assert len(until(lambda: watched.asked(raw.expr), "both ends down")) == 2
    time.sleep(HOLD + 3)
    assert len(watched.alerts("FabricIncidentPage")) == 1  # heard from both, held once
    assert watched.asked(f'ALERTS{{alertname="{raw.name}",alertstate="firing"}}') == []
    name = incident["incident"]
    (told,) = until(lambda: watched.recorder.to("/hook", name), "the one notification")
    assert told["status"] == "firing"
    assert [one["labels"]["incident"] for one in told["alerts"]] == [name]
    until(lambda: watched.recorder.to("/drain", name), "the order to drain what is down")
    runbook = alert["annotations"]["runbook"]
    assert (ALERTS.parent / runbook).exists()
    fabric.unplugged.discard(CABLE)
    until(lambda: not watched.site.incidents(open="true"), "the incident's end")
    until(lambda: not watched.asked(query), "Prometheus' alert to end")
    until(lambda: not watched.alerts("FabricIncidentPage"), "the alert's end")
    until(lambda: len(watched.recorder.to("/hook", name)) == 2, "the word that it is over")
    said = [one["status"] for one in watched.recorder.to("/hook", name)]
    assert said == ["firing", "resolved"]
    # a machine that is busy with other things may silence a source, which is a cause of its own
    kinds = {
        alert["labels"].get("kind", alert["labels"]["alertname"])
        for one in watched.recorder.to("/hook")
        for alert in one["alerts"]
    }
    assert kinds <= {"link.down", "watch.source_silent"}
    drained, returned = until(lambda: _two(watched.recorder.to("/drain")), "the return to service")
    assert (drained["do"], drained["culprit"]) == ("drain", CABLE)
    assert "carries nothing" in drained["safe_because"]
    assert (returned["do"], returned["incident"]) == ("return", name)


def _two(found: list[Any]) -> list[Any]:
    return found if len(found) == 2 else []


def test_a_silence_of_the_rack_is_maintenance_with_who_made_it(watched: Watched) -> None:
    fabric, before = watched.emulated.fabric, len(watched.recorder.to("/hook"))
    stamp = "%Y-%m-%dT%H:%M:%SZ"
    silence = {
        "matchers": [{"name": "device", "value": "host-001", "isRegex": False}],
        "startsAt": time.strftime(stamp, time.gmtime(time.time() - 1)),
        "endsAt": time.strftime(stamp, time.gmtime(time.time() + 600)),
        "createdBy": "kim",
        "comment": "new cables",
    }
    api = f"http://{watched.alertmanager}/api/v2/silences"
    assert status(api, silence, {"Content-Type": "application/json"}) == 200
    taken = lambda: watched.site.series("fabric_event_active", kind="maintenance_start")  # noqa: E731
    until(taken, "the maintenance", 40)
    fabric.unplugged.add(CABLE)
    (found,) = until(lambda: watched.site.incidents(kind="link.down", open="true"), "the incident")
    assert found["suppressed_by"].startswith("maintenance:silence-")
    assert found["suppressed_note"] == "kim: new cables"
    time.sleep(HOLD + 3)
    assert watched.asked('ALERTS{alertname=~"FabricIncidentPage|FabricPortDown",'
                         'alertstate="firing"}') == []  # fmt: skip
    assert len(watched.recorder.to("/hook")) == before
    fabric.unplugged.discard(CABLE)
    until(lambda: not watched.site.incidents(open="true"), "the incident's end")


def test_every_panel_shows_what_the_site_has(watched: Watched) -> None:
    fabric = watched.emulated.fabric
    fabric.ill["leaf-01/2"] = Rates(symbol_errors=20.0, recoveries=5.0)
    fabric.unplugged.add(CABLE)
    until(lambda: watched.site.incidents(kind="link.down", open="true"), "an incident")
    time.sleep(12)  # servers need a few scrapes of all that
    told = {
        server: _shown(watched, server) for server in (watched.prometheus, watched.victoria_metrics)
    }
    fabric.unplugged.discard(CABLE)
    fabric.ill.clear()
    for shown, empty in told.values():
        assert shown > 20
        assert empty <= OF_OTHER_FAULTS


def _shown(watched: Watched, server: str) -> tuple[int, set[str]]:
    """Return how many queries of panels a server was asked, and the titles of the empty ones."""
    with_data = {name for name in METRICS if watched.asked(f"count({name})", server)}
    assert str(UP) in with_data
    empty, shown = set(), 0
    for board in boards().values():
        for panel in dashboard(board)["panels"]:
            for target in panel.get("targets", ()):
                query = str(target["expr"])
                if not metrics_of(substituted(query)) <= with_data:
                    continue  # a supernode of this size has no such device
                shown += 1
                if not watched.asked(substituted(query, {"__rate_interval": "10s"}), server):
                    empty.add(str(panel["title"]))
    return shown, empty


OF_OTHER_FAULTS = {
    "Targets that do not answer",
    "Partial answers",
    "Readings refused",
    # of one incident whose culprit is another kind of thing than this cable
    "Replays",
    "Device answers",
    "Chips",
    "Idle",
}
"""Panels that are empty while nothing but a cable is wrong."""


def test_the_topology_joins_to_the_readings(watched: Watched) -> None:
    joined = f"{UP} * on (device, port) group_left (link, peer_device) {PORT_INFO}"
    rows = until(lambda: watched.asked(joined), "the join")
    peers = {
        (row["metric"]["device"], row["metric"]["port"]): row["metric"].get("peer_device")
        for row in rows
    }
    for cable in PLAN.rails_cables:
        (near, near_port), (far, far_port) = (end.partition("/")[::2] for end in (cable.a, cable.b))
        assert peers[near, near_port] == far
        assert peers[far, far_port] == near


def test_the_boards_are_the_generated_ones() -> None:
    for name, board in boards().items():
        text = Path(ALERTS.parent / "dashboards" / "generated" / f"{name}.json").read_text()
        assert json.loads(text) == dashboard(board, boards().values())
