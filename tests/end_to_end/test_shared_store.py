"""One site in pieces: two collectors and two analyzers on one VictoriaMetrics, beside one `run`.

They are started as the shipped units start them, on the shipped site file's store.
"""

import re
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from fabrichealth.catalogue.ports import UP
from fabrichealth.catalogue.verdicts import INCIDENT_ACTIVE
from fabrichealth.catalogue.watchers import ANALYSIS_SECONDS, SPOOLED_SAMPLES
from tests.deploy import shipped
from tests.end_to_end.emulated import CABLE, Emulated, Site
from tests.end_to_end.processes import Running, answered, fabrichealth, fetched, until
from tests.servers import Servers

LABELS = {"site": "in-pieces"}

pytestmark = pytest.mark.timeout(300)  # five daemons start

PARTS = {
    "first": ("fabrichealth-collect@", "1-2", {}),
    "second": ("fabrichealth-collect@", "2-2", {}),
    "pod-a": ("fabrichealth-analyze@", "pod-a", {}),
    "the rest": ("fabrichealth-analyze@", "rest", {"DOMAINS": "pod-b,fabric"}),
    "whole": ("fabrichealth", "", {}),
}
"""Unit that is shipped, its instance, and what its environment file says."""


@dataclass
class Hall:
    """The daemons of one emulated hall: those in pieces, and the one that does it all."""

    emulated: Emulated
    sites: dict[str, Site]
    store: str

    def told(self, *names: str) -> set[tuple[str, str, str, str | None]]:
        """Return (kind, culprit, severity, domain) of the open incidents of some daemons."""
        return {
            (one["kind"], one["culprit"]["id"], one["severity"], one["domain"])
            for name in names
            for one in self.sites[name].incidents(open="true")
        }

    def asked(self, query: str) -> list[dict[str, Any]]:
        """Return what the store answers to an instant query."""
        found = answered(f"{self.store}/api/v1/query?query={quote(query)}")
        return list(found["data"]["result"])


@pytest.fixture(scope="module")
def hall(
    servers: Servers, emulated: Emulated, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("hall")
    store = servers.victoria_metrics()
    topology = two_domains(emulated.supernode.topology, folder / "topology.yaml")
    plain = shipped.site("victoriametrics")
    shared = {**moved(plain["store"], store), "labels": LABELS, "lag": "4s"}
    own = {"topology": str(topology), "state": plain["state"], "listen": plain["listen"]}
    sites = {
        name: Site(folder / name, emulated, **own, **({} if name == "whole" else {"store": shared}))
        for name in PARTS
    }
    running: list[Running] = []
    try:
        for name, (unit, instance, said) in PARTS.items():
            site, settings = sites[name], shipped.unit(unit, instance)
            more = {**said, "LISTEN": site.listen}
            given = shipped.environment(settings, site.folder / "state", **more)
            words = shipped.words(settings, site.file, given)
            site.daemon = fabrichealth(site.folder / "daemon.log", *words, given=given)
            running.append(site.daemon)
        for name, site in sites.items():
            until(lambda site=site: fetched(f"{site.address}/-/ready"), name, 90)  # type: ignore[misc]  # called at once
        for name in ("pod-a", "the rest", "whole"):
            page = f"{sites[name].address}/metrics"
            until(lambda page=page: str(ANALYSIS_SECONDS) in fetched(page), name, 60)  # type: ignore[misc]  # called at once
        yield Hall(emulated, sites, store)
    finally:
        emulated.fabric.unplugged.clear()
        emulated.fabric.dark.clear()
        for one in running:
            one.end(signal.SIGTERM, 30.0)


def moved(store: Mapping[str, str], address: str) -> dict[str, str]:
    """Return a store section whose server is at another address."""
    return {key: re.sub(r"^http://[^/]+", address, value) for key, value in store.items()
            if isinstance(value, str)}  # fmt: skip


def two_domains(written: Path, path: Path) -> Path:
    """Write the topology anew with the second host, and what is in it, in a domain of its own."""
    plain = yaml.safe_load(written.read_text())
    plain["domains"].append({"name": "pod-b", "kind": plain["domains"][0]["kind"]})
    for device in plain["devices"]:
        if device.get("host", device["name"]) == "host-002":
            device["domain"] = "pod-b"
    for rack in plain["racks"]:
        rack.pop("domain", None)
    path.write_text(yaml.safe_dump(plain))
    return path


def test_the_same_incidents_are_told_each_by_one(hall: Hall) -> None:
    until(lambda: hall.asked(f"count({UP}) == 8"), "readings of every port")
    hall.emulated.fabric.unplugged.add(CABLE)
    cable = ("link.down", CABLE, "page", "pod-a")
    until(lambda: hall.told("whole") == {cable}, "the whole site's incident")
    until(lambda: hall.told("pod-a") == {cable}, "the domain's incident", 45)
    hall.emulated.fabric.dark.add("host-002")
    host = ("device.down", "host-002")
    until(lambda: host in {one[:2] for one in hall.told("whole")}, "the dark host", 45)
    until(lambda: hall.told("pod-a", "the rest") == hall.told("whole"), "the same in pieces", 45)
    assert hall.told("pod-a") == {cable}
    names = [one["incident"] for name in ("pod-a", "the rest") for one in
             hall.sites[name].incidents(open="true")]  # fmt: skip
    assert len(names) == len(set(names))


def test_verdicts_of_both_are_in_the_store_with_the_readings(hall: Hall) -> None:
    rows = until(lambda: hall.asked(f"{INCIDENT_ACTIVE}"), "verdicts")
    assert {row["metric"]["instance"] for row in rows} >= {"judge-pod-a"}
    assert {row["metric"]["site"] for row in rows} == {LABELS["site"]}
    parts = {"store-1/2", "store-2/2", "store-pod-a", "store-pod-b,fabric"}
    spools = hall.asked(f"{SPOOLED_SAMPLES}")
    assert {row["metric"]["instance"] for row in spools} == parts


def test_an_analyzer_answers_from_the_store(hall: Hall) -> None:
    address = hall.sites["pod-a"].address
    query = f"metric={UP}&device=leaf-01&port=1"
    (newest,) = answered(f"{address}/api/v1/series?{query}")["data"]
    (past,) = answered(f"{address}/api/v1/series?{query}&start={newest['at'] - 600}")["data"]
    assert past["at"] == sorted(past["at"])
    assert len(past["values"]) > 5
    assert newest["at"] >= past["at"][0]


def test_each_collector_polls_its_share(hall: Hall) -> None:
    pages = [fetched(f"{hall.sites[name].address}/metrics") for name in ("first", "second")]
    held = [{line for line in page.splitlines() if line.startswith(f"{UP}{{")} for page in pages]
    assert held[0]
    assert held[1]
    assert {line.rpartition(" ")[0] for line in held[0]}.isdisjoint(
        {line.rpartition(" ")[0] for line in held[1]}
    )


def test_nobody_analyzes_without_a_store_that_is_shared(tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text("state: state\ntargets: []\n")
    daemon = fabrichealth(tmp_path / "log", "analyze", "-c", tmp_path / "site.yaml")
    assert daemon.process.wait(60) == 1
    assert "needs one on a server" in daemon.said
    assert "Traceback" not in daemon.said
