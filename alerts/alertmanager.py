"""The Alertmanager configuration: who is told of what, together with what, and what stays unsaid.

Routes: a page wakes, a ticket waits for the day, what is to be watched is only shown. What belongs
to one incident is one notification. Inhibition: a page says all that its ticket would; a monitor
that is silent as a whole says all that its parts would. Victims need no inhibition here: the rules
themselves leave out what an open incident accounts for (docs/decisions/020).
"""

from typing import Any

PAGE, TICKET, SHOWN = "fabric-page", "fabric-ticket", "fabric-shown"

TEMPLATES = "../templates/*.tmpl"
"""Beside the folder of the configuration."""

BLIND = (
    "FabricCollectingLate|FabricDetectorFails|FabricJudgingLate|FabricNothingJudged"
    "|FabricReadingsWait|FabricSamplesLost|FabricSourceSilent"
)
"""Alerts that follow from a collector that is gone."""


def config(*, channels: bool = False) -> dict[str, Any]:
    """Return a whole configuration; `channels` fills its receivers with an example of each kind."""
    told: dict[str, Any] = {
        "templates": [TEMPLATES],
        "route": {"receiver": SHOWN, "routes": [fabric_route()]},
        "inhibit_rules": inhibit_rules(),
        "receivers": [{"name": name} for name in (PAGE, TICKET, SHOWN)],
    }
    if channels:
        told["global"] = {
            "smtp_smarthost": "smtp.example.org:587",
            "smtp_from": "alertmanager@example.org",
        }
        told["receivers"] = receivers()
    return told


def fabric_route() -> dict[str, Any]:
    """Return the route to put among those that a site has already."""
    incident, any_other = 'incident!=""', 'incident=""'
    return {
        "matchers": ['alertname=~"Fabric.+"'],
        "receiver": SHOWN,
        "group_by": ["alertname"],
        "routes": [
            _route(PAGE, "page", incident, ["incident"], "5s", "1m", "4h"),
            # a ticket waits a minute: what becomes a page meanwhile is said once
            _route(TICKET, "ticket", incident, ["incident"], "1m", "5m", "3d"),
            _route(PAGE, "page", any_other, ["alertname", "loop"], "15s", "5m", "4h"),
            _route(TICKET, "ticket", any_other, ["alertname"], "2m", "15m", "1d"),
        ],
    }


def _route(
    receiver: str, severity: str, also: str, by: list[str], wait: str, interval: str, repeat: str
) -> dict[str, Any]:
    return {
        "matchers": [f'severity="{severity}"', also],
        "receiver": receiver,
        "group_by": by,
        "group_wait": wait,
        "group_interval": interval,
        "repeat_interval": repeat,
    }


def inhibit_rules() -> list[dict[str, Any]]:
    """Return what keeps what unsaid."""
    # a label that neither alert has counts as equal, so that each must have it
    page, less = 'severity="page"', 'severity=~"ticket|watch|info"'
    return [
        {
            "source_matchers": [page, f'{label}!=""'],
            "target_matchers": [less, f'{label}!=""'],
            "equal": [label],
        }
        for label in ("incident", "culprit")
    ] + [
        {
            "source_matchers": ['alertname="FabricNothingCollected"'],
            "target_matchers": [f'alertname=~"{BLIND}"'],
        },
        {
            "source_matchers": ['alertname="FabricNothingJudged"'],
            "target_matchers": ['alertname=~"FabricJudgingLate|FabricDetectorFails"'],
        },
    ]


def receivers() -> list[dict[str, Any]]:
    """Return the receivers with a channel of each kind, to be cut down to those a site has."""
    chat = {
        "api_url_file": "/etc/alertmanager/chat-url",
        "channel": "#fabric",
        "send_resolved": True,
        "color": _template("fabrichealth.chat.color"),
        "title": _template("fabrichealth.chat.title"),
        "title_link": _template("fabrichealth.chat.link"),
        "text": _template("fabrichealth.chat.text"),
        "fallback": _template("fabrichealth.chat.title"),
    }
    mail = {
        "to": "fabric@example.org",
        "send_resolved": True,
        "headers": {"Subject": _template("fabrichealth.email.subject")},
        "html": _template("fabrichealth.email.html"),
        "text": _template("fabrichealth.email.text"),
    }
    # the body of a webhook is Alertmanager's own JSON, which holds all labels and annotations
    hook = {"url": "http://127.0.0.1:8080/fabric", "send_resolved": True}
    return [
        {"name": PAGE, "slack_configs": [chat], "webhook_configs": [hook], "email_configs": [mail]},
        {"name": TICKET, "email_configs": [mail]},
        {"name": SHOWN},
    ]


def _template(name: str) -> str:
    return f'{{{{ template "{name}" . }}}}'
