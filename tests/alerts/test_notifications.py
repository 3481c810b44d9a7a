"""What real Alertmanager does with our configuration and templates: who is told, once, in words."""

import copy
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from alerts.alertmanager import BLIND, config
from alerts.generate import CHANNELS, FOLDER, ROUTES, alerts
from fabrichealth.runtime.silences import silences
from fabrichealth.topology import Topology
from fabrichealth.topology.rows import Device, Rack
from tests.alerts.recorder import Recorder, quick
from tests.end_to_end.processes import Running, alertmanager, answered, needs, until

pytestmark = needs("prometheus-alertmanager")

HOSTILE = 'leaf-01/<!channel> & "Ethernet0"'


@dataclass
class Told:
    """An Alertmanager with our configuration, and who it tells."""

    address: str
    recorder: Recorder

    def post(self, path: str, body: object) -> Any:
        request = urllib.request.Request(
            f"http://{self.address}{path}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=5) as reply:
            return json.loads(reply.read() or b"null")

    def alert(self, name: str, *, over: bool = False, **labels: str) -> None:
        """Tell it of an alert, or that it is over."""
        now = time.time()
        alert = {
            "labels": {"alertname": name, **labels},
            "annotations": {
                "summary": f"summary of {labels.get('culprit', name)}",
                "description": f"evidence of {labels.get('culprit', name)}\nsecond line",
                "action": "Reseat it.",
                "runbook": "alerts/runbooks/link.down.md",
            },
            "startsAt": stamp(now - 60),
            "endsAt": stamp(now - 1 if over else now + 300),
            "generatorURL": "http://fabric.example:9480/#/incident/i1",
        }
        self.post("/api/v2/alerts", [alert])

    def incident(self, severity: str, incident: str, culprit: str, *, over: bool = False) -> None:
        name = f"FabricIncident{severity.title()}"
        labels = {"severity": severity, "incident": incident, "culprit": culprit}
        self.alert(name, over=over, **labels)

    def inhibited(self) -> dict[str, bool]:
        """Return whether each alert is inhibited, by its name."""
        found = answered(f"http://{self.address}/api/v2/alerts") or []
        return {one["labels"]["alertname"]: bool(one["status"]["inhibitedBy"]) for one in found}


def stamp(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    folder = tmp_path_factory.mktemp("notified")
    shutil.copytree(FOLDER / "templates", folder / "templates")
    recorder = Recorder()
    (folder / "chat-url").write_text(f"{recorder.address}/chat")
    plain = copy.deepcopy(config(channels=True))
    plain["templates"] = ["templates/*.tmpl"]
    plain["global"] |= {"smtp_smarthost": recorder.mail, "smtp_require_tls": False}
    plain["route"] = {**quick(plain["route"]), "group_wait": "1s"}
    for one in plain["receivers"]:
        for chat in one.get("slack_configs", ()):
            chat["api_url_file"] = str(folder / "chat-url")
        for hook in one.get("webhook_configs", ()):
            hook["url"] = f"{recorder.address}/hook"
    running: Running | None = None
    try:
        running, address = alertmanager(folder, plain=plain)
        yield Told(address, recorder)
    finally:
        if running is not None:
            running.end()
        recorder.close()


@needs("amtool")
@pytest.mark.parametrize("name", [ROUTES, CHANNELS])
def test_amtool_takes_the_generated_configuration(name: str) -> None:
    check = subprocess.run(
        ["amtool", "check-config", name], cwd=FOLDER, capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stdout + check.stderr
    assert "1 templates" in check.stdout


@needs("amtool")
@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        ("alertname=FabricIncidentPage severity=page incident=i1", "fabric-page"),
        ("alertname=FabricIncidentTicket severity=ticket incident=i1", "fabric-ticket"),
        ("alertname=FabricNothingCollected severity=page", "fabric-page"),
        ("alertname=FabricSamplesLost severity=ticket", "fabric-ticket"),
        ("alertname=FabricPortDown severity=watch", "fabric-shown"),
        ("alertname=SomebodyElses severity=page", "fabric-shown"),
    ],
)
def test_amtool_routes_each_severity_to_its_receiver(labels: str, receiver: str) -> None:
    words = ["amtool", "config", "routes", "test", f"--config.file={ROUTES}", *labels.split()]
    found = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True, check=True)
    assert found.stdout.split() == [receiver]


def test_what_a_silent_collector_explains_are_rules_that_there_are() -> None:
    assert set(BLIND.split("|")) <= {alert.name for alert in alerts()}


def test_a_page_is_told_once_on_each_channel_in_words_and_its_end_as_well(told: Told) -> None:
    told.incident("page", "i1", HOSTILE)
    recorder = told.recorder
    (chat,) = until(lambda: recorder.to("/chat"), "the chat")
    assert chat["channel"] == "#fabric"
    (said,) = chat["attachments"]
    assert said["title"] == ('[PAGE] summary of leaf-01/&lt;!channel&gt; &amp; "Ethernet0"')
    assert "evidence of leaf-01/&lt;!channel&gt;" in said["text"]
    assert "<!channel>" not in json.dumps(chat)
    assert said["text"].startswith("Reseat it.")
    assert said["title_link"] == "http://fabric.example:9480/#/incident/i1"
    assert said["color"] == "#c62828"
    (hook,) = until(lambda: recorder.to("/hook", "i1"), "the webhook")
    assert hook["alerts"][0]["labels"]["culprit"] == HOSTILE
    assert hook["groupLabels"] == {"incident": "i1"}
    (mail,) = until(lambda: recorder.mails, "the mail")
    assert mail["Subject"] == f"[PAGE] summary of {HOSTILE}"
    parts = {part.get_content_type(): part for part in mail.walk() if not part.is_multipart()}
    html = parts["text/html"].get_payload(decode=True).decode()  # type: ignore[union-attr]
    text = parts["text/plain"].get_payload(decode=True).decode()  # type: ignore[union-attr]
    assert f"evidence of {HOSTILE}\nsecond line" in text.replace("\r", "")
    assert "evidence of leaf-01/&lt;!channel&gt; &amp;" in html
    assert "<!channel>" not in html
    told.incident("page", "i1", HOSTILE)  # heard again, as each minute
    time.sleep(1.5)
    assert len(recorder.to("/chat")) == 1
    told.incident("page", "i1", HOSTILE, over=True)
    _, over = until(lambda: both(recorder.to("/chat")), "the end")
    assert over["attachments"][0]["title"].startswith("[RESOLVED] summary of leaf-01")
    assert over["attachments"][0]["color"] == "#2e7d32"
    assert until(lambda: both(recorder.to("/hook", "i1")), "its end")[1]["status"] == "resolved"


def both(found: list[Any]) -> list[Any]:
    return found if len(found) == 2 else []


def test_a_ticket_that_becomes_a_page_is_one_notification_of_the_page(told: Told) -> None:
    told.incident("page", "i2", "leaf-02")
    told.incident("ticket", "i2", "leaf-02")
    until(lambda: told.recorder.to("/hook", "i2"), "the page")
    told.incident("ticket", "i2", "leaf-02", over=True)
    time.sleep(2)
    assert [one["status"] for one in told.recorder.to("/hook", "i2")] == ["firing"]
    assert not [
        one for one in told.recorder.mails if "[TICKET] summary of leaf-02" in one["Subject"]
    ]


def test_of_a_page_whose_culprit_changed_the_title_tells_what_is_so_now(told: Told) -> None:
    told.incident("page", "i5", "leaf-05")
    until(lambda: told.recorder.to("/hook", "i5"), "the page")
    told.incident("page", "i5", "leaf-05", over=True)
    told.incident("page", "i5", "leaf-06 @channel ``` @here")

    def titles() -> list[str]:
        chats = [chat["attachments"][0] for chat in told.recorder.to("/chat")]
        return [one["title"] for one in chats if "leaf-06" in one["title"]]

    title = until(titles, "the change")[0]
    assert title == "[PAGE] summary of leaf-06 @\u200bchannel ''' @\u200bhere"


def test_what_a_page_or_a_silent_collector_explains_is_inhibited(told: Told) -> None:
    told.incident("page", "i3", "leaf-03")
    told.alert("FabricOther", severity="ticket", culprit="leaf-03")
    told.alert("FabricOtherCulprit", severity="ticket", culprit="leaf-04")
    told.alert("FabricNothingCollected", severity="page")
    told.alert("FabricSourceSilent", severity="ticket", source="prom", target="h1")
    told.alert("FabricSiteFileRefused", severity="ticket")
    wanted = {
        "FabricOther": True,
        "FabricOtherCulprit": False,
        "FabricSourceSilent": True,
        "FabricSiteFileRefused": False,
        "FabricNothingCollected": False,
    }
    until(lambda: wanted.items() <= told.inhibited().items(), "the inhibition")
    time.sleep(1)
    now = told.inhibited()
    assert {name: now[name] for name in wanted} == wanted  # what is not inhibited stays so


def test_a_silence_of_a_rack_is_read_back_with_who_made_it_until_it_expires(told: Told) -> None:
    topology = Topology(
        [Device(name="h1", role="host", rack="r01")], [], [], [Rack(name="r01"), Rack(name="r02")]
    )
    silence = {
        "matchers": [{"name": "rack", "value": "r0[12]", "isRegex": True, "isEqual": True}],
        "startsAt": stamp(time.time() - 1),
        "endsAt": stamp(time.time() + 3600),
        "createdBy": "kim",
        "comment": "swap of optics",
    }
    name = told.post("/api/v2/silences", silence)["silenceID"]

    def read() -> Any:
        with urllib.request.urlopen(f"http://{told.address}/api/v2/silences", timeout=5) as reply:
            return silences(reply.read(), topology)

    (found,) = until(read, "the silence")
    assert found.id == name
    assert found.scopes == ({"rack": "r01"}, {"rack": "r02"})
    assert found.says == "kim: swap of optics"
    assert 3500 < found.end - time.time() < 3601
    request = urllib.request.Request(
        f"http://{told.address}/api/v2/silence/{name}", method="DELETE"
    )
    urllib.request.urlopen(request, timeout=5).close()
    until(lambda: not read(), "its end")


def test_the_committed_templates_name_no_template_that_is_not_there() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (FOLDER / "templates").glob("*.tmpl")]
    known = {line.split('define "')[1].split('"')[0]
             for text in texts for line in text.splitlines() if 'define "' in line}  # fmt: skip
    asked = json.dumps(config(channels=True)) + "".join(texts)
    named = {
        part.split('"')[0].rstrip("\\")
        for part in asked.replace('\\"', '"').split('template "')[1:]
    }
    assert named <= known


def test_there_are_no_other_files_beside_the_templates() -> None:
    assert {path.suffix for path in Path(FOLDER / "templates").iterdir()} == {".tmpl"}
