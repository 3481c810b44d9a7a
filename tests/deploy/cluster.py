"""What a cluster would be given: overlays built by the real kustomize, found by kind and name."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.shipped import DEPLOY, told, tool

OVERLAYS = sorted(path.name for path in (DEPLOY / "kubernetes/overlays").iterdir())

OPERATOR = "monitoring.coreos.com/v1"

Resource = dict[str, Any]


def built(overlay: Path) -> list[Resource]:
    """Return the resources of an overlay as kustomize builds them."""
    said = told(tool("kubectl"), "kustomize", overlay)
    assert said.returncode == 0, said.stderr
    return [dict(one) for one in yaml.safe_load_all(said.stdout)]


@cache
def overlay(name: str) -> tuple[Resource, ...]:
    """Return the resources of a shipped overlay."""
    return tuple(built(DEPLOY / "kubernetes/overlays" / name))


def of(resources: tuple[Resource, ...], *kinds: str) -> Iterator[Resource]:
    """Yield the resources of some kinds."""
    return (one for one in resources if one["kind"] in kinds)


def named(resource: Resource) -> str:
    """Return `kind namespace/name`, for messages."""
    place = resource["metadata"].get("namespace", "")
    return f"{resource['kind']} {place}/{resource['metadata']['name']}"


def pods(resources: tuple[Resource, ...]) -> dict[str, Resource]:
    """Return the pod templates, by the names of what makes them."""
    found = of(resources, "StatefulSet", "DaemonSet", "Deployment")
    return {one["metadata"]["name"]: one for one in found}


def container(workload: Resource) -> Resource:
    """Return the one container of a workload."""
    (found,) = workload["spec"]["template"]["spec"]["containers"]
    return dict(found)


def environment(workload: Resource) -> dict[str, str]:
    """Return the variables of a workload's container that are written out."""
    return {one["name"]: one["value"] for one in container(workload)["env"] if "value" in one}


def words(workload: Resource, given: Mapping[str, str]) -> list[str]:
    """Return the arguments of a workload's container with their variables put in."""
    return [
        re.sub(r"\$\((\w+)\)", lambda found: given[found[1]], word)
        for word in container(workload)["args"]
    ]


def matches(selector: dict[str, str], labels: dict[str, str]) -> bool:
    """Return whether labels are those that a selector wants; an empty one wants none."""
    return selector.items() <= labels.items()
