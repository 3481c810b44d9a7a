"""Kubernetes' and the operator's published schemas, and promtool, take what kustomize builds."""

import json
import shutil
import subprocess
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from alerts.generate import FOLDER as ALERTS
from tests.deploy.cluster import OPERATOR, OVERLAYS, Resource, of, overlay, pods
from tests.deploy.shipped import told
from tests.end_to_end.processes import needs

VERSIONS = ("1.31", kubernetes_validate.latest_version())
"""The oldest Kubernetes that has all that is asked for, and the newest whose schemas are here."""

CRDS = Path(__file__).parent / "crds"
NODE = shutil.which("node")

each = pytest.mark.parametrize("name", OVERLAYS)


@each
def test_every_resource_is_what_its_kind_says(name: str) -> None:
    for one in overlay(name):
        if one["apiVersion"] != OPERATOR:
            version = VERSIONS[OVERLAYS.index(name) % len(VERSIONS)]
            kubernetes_validate.validate(one, version, strict=True)


def test_a_mistake_would_be_found() -> None:
    collector = json.loads(json.dumps(pods(overlay(OVERLAYS[0]))["collector"]))
    collector["spec"]["replica"] = 3
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(collector, VERSIONS[-1], strict=True)


def held(resources: list[Resource]) -> subprocess.CompletedProcess[str]:
    """Return what the operator's schemas say of resources."""
    return subprocess.run(
        [NODE or "node", "held.mjs"], cwd=CRDS, input=json.dumps(resources),
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.skipif(
    NODE is None or not (CRDS / "node_modules").exists(),
    reason="node and its packages: make system",
)
def test_resources_of_the_operator_are_what_their_kinds_say() -> None:
    ours = [one for one in overlay(OVERLAYS[0]) if one["apiVersion"] == OPERATOR]
    assert {one["kind"] for one in ours} == {"ServiceMonitor", "PrometheusRule"}
    right = held(ours)
    assert right.returncode == 0, right.stdout + right.stderr
    mistaken = json.loads(json.dumps(ours))
    for one in mistaken:
        one["spec"].get("endpoints", [{}])[0]["interval"] = "15 seconds"
        one["spec"].get("groups", [{}])[0]["rules"] = "none"
    wrong = held(mistaken)
    assert wrong.returncode == 1
    assert len(wrong.stdout.splitlines()) == len(ours)


@needs("promtool")
def test_promtool_takes_the_rules_of_the_resource(tmp_path: Path) -> None:
    (rule,) = of(overlay(OVERLAYS[0]), "PrometheusRule")
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rule["spec"]))
    checked = told("promtool", "check", "rules", tmp_path / "rules.yaml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    files = [
        yaml.safe_load(path.read_text()) for path in (ALERTS / "generated").glob("*.rules.yaml")
    ]
    assert rule["spec"]["groups"] == [group for file in files for group in file["groups"]]
