"""Our rules as the Prometheus operator's resource, beside the rule file that Prometheus reads."""

import yaml

from alerts.generate import files as alert_files
from fabrichealth.cli._units import MADE

API = "monitoring.coreos.com/v1"
RULES = ".rules.yaml"
"""How the name of a rule file ends."""


def files() -> dict[str, str]:
    """Return the PrometheusRule with the groups of every rule file, by its path below `deploy/`."""
    groups = [
        group
        for path, text in sorted(alert_files().items())
        if path.endswith(RULES)
        for group in yaml.safe_load(text)["groups"]
    ]
    name = {"app.kubernetes.io/name": "fabrichealth"}
    resource = {
        "apiVersion": API,
        "kind": "PrometheusRule",
        "metadata": {"name": "fabrichealth", "namespace": "fabrichealth", "labels": name},
        "spec": {"groups": groups},
    }
    text = yaml.safe_dump(resource, sort_keys=False, width=100, allow_unicode=True)
    made = f"{MADE} from alerts/rules.\n{text}"
    return {"kubernetes/components/monitoring/prometheusrule.yaml": made}
