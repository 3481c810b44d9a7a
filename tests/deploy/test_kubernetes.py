"""Kubernetes: what kustomize builds has only the privileges it needs; its names lead somewhere."""

import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from fabrichealth import __version__
from fabrichealth.cli._units import LISTEN
from fabrichealth.remediation.outputs.kubernetes_node import ACCOUNT
from fabrichealth.topology import FABRIC
from tests.deploy import cluster
from tests.deploy.cluster import OVERLAYS, Resource, built, named, of, overlay, pods
from tests.deploy.shipped import DEPLOY, site

PORT = int(LISTEN.rpartition(":")[2])

each = pytest.mark.parametrize("name", OVERLAYS)


@each
def test_a_pod_has_no_privilege_but_the_network_of_its_host(name: str) -> None:
    for who, workload in pods(overlay(name)).items():
        pod, one = workload["spec"]["template"]["spec"], cluster.container(workload)
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert one["securityContext"]["allowPrivilegeEscalation"] is False
        assert one["securityContext"]["readOnlyRootFilesystem"] is True
        assert one["securityContext"]["capabilities"]["drop"] == ["ALL"]
        assert not {"hostPID", "hostIPC"} & pod.keys()
        assert not any("hostPath" in volume for volume in pod["volumes"])
        of_host = who == "host"
        assert pod.get("hostNetwork", False) == of_host
        held = {"NET_ADMIN"} if of_host else set()
        assert set(one["securityContext"]["capabilities"].get("add", ())) == held
        assert (
            pod["securityContext"].get("runAsNonRoot"),
            pod["securityContext"]["runAsUser"],
        ) == ((None, 0) if of_host else (True, 65532))
        assert one["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in one["resources"]["limits"]


def test_hosts_that_read_no_modules_are_nobody() -> None:
    (host,) = [one for one in built(DEPLOY / "kubernetes/hosts") if one["kind"] == "DaemonSet"]
    assert host["spec"]["template"]["spec"]["securityContext"]["runAsNonRoot"] is True
    assert cluster.container(host)["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@each
def test_what_a_pod_names_is_there(name: str) -> None:
    resources = overlay(name)
    maps = {
        (one["metadata"]["namespace"], one["metadata"]["name"]): one["data"]
        for one in of(resources, "ConfigMap")
    }
    for workload in pods(resources).values():
        space, one = workload["metadata"]["namespace"], cluster.container(workload)
        given = cluster.environment(workload)
        for variable in one["env"]:
            asked = variable.get("valueFrom", {}).get("configMapKeyRef")
            if asked:
                given[variable["name"]] = maps[space, asked["name"]][asked["key"]]
            elif "valueFrom" in variable:
                given[variable["name"]] = "1"
        words = cluster.words(workload, given)
        (volume,) = [
            volume["configMap"]["name"]
            for volume in workload["spec"]["template"]["spec"]["volumes"]
            if volume["name"] == "site"
        ]
        file = Path(words[words.index("-c") + 1])
        assert file.name in maps[space, volume]
        assert yaml.safe_load(maps[space, volume][file.name])["topology"] in maps[space, volume]
        assert one["image"] == f"fabrichealth:{__version__}"
        mounts = {mount["name"] for mount in one["volumeMounts"]}
        volumes = {volume["name"] for volume in workload["spec"]["template"]["spec"]["volumes"]}
        claims = workload["spec"].get("volumeClaimTemplates", [])
        assert mounts == volumes | {claim["metadata"]["name"] for claim in claims}
        accounts = {account["metadata"]["name"] for account in of(resources, "ServiceAccount")}
        assert workload["spec"]["template"]["spec"]["serviceAccountName"] in accounts


@pytest.mark.parametrize("count", [2, 5])
def test_collectors_know_how_many_they_are(count: int, tmp_path: Path) -> None:
    shutil.copytree(DEPLOY, tmp_path / "deploy")
    folder = tmp_path / "deploy/kubernetes/overlays" / OVERLAYS[0]
    text = (folder / "kustomization.yaml").read_text()
    (folder / "kustomization.yaml").write_text(text.replace("count: 2}", f"count: {count}}}"))
    collector = pods(tuple(built(folder)))["collector"]
    assert collector["spec"]["replicas"] == count
    assert collector["spec"]["ordinals"] == {"start": 1}  # as shards are numbered
    assert cluster.environment(collector)["SHARDS"] == str(count)


@each
def test_each_domain_has_one_analyzer(name: str) -> None:
    analyzers = [one for who, one in pods(overlay(name)).items() if who.startswith("analyzer")]
    judged = [
        domain for one in analyzers for domain in cluster.environment(one)["DOMAINS"].split(",")
    ]
    topology = yaml.safe_load((DEPLOY / "sites/topology.yaml").read_text())
    assert sorted(judged) == sorted([FABRIC, *(one["name"] for one in topology["domains"])])
    assert {one["spec"]["replicas"] for one in analyzers} == {1}


@each
def test_probes_services_and_monitors_meet_the_port_that_is_listened_at(name: str) -> None:
    resources = overlay(name)
    services = [one for one in of(resources, "Service") if "selector" in one["spec"]]
    for who, workload in pods(resources).items():
        one = cluster.container(workload)
        listen = cluster.environment(workload)["LISTEN"]
        assert int(listen.rpartition(":")[2]) == PORT
        ports = {port["name"]: port["containerPort"] for port in one.get("ports", ())}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            get = one[probe]["httpGet"]
            assert ports.get(get["port"], get["port"]) == PORT
            assert get["path"] == ("/-/ready" if probe == "readinessProbe" else "/-/healthy")
            assert get.get("host", "0.0.0.0") == listen.partition(":")[0]  # noqa: S104 - compared
        labels = workload["spec"]["template"]["metadata"]["labels"]
        own = [one for one in services if cluster.matches(one["spec"]["selector"], labels)]
        assert len(own) == (0 if who == "host" else 1), who
        if own:
            assert own[0]["metadata"]["name"] == workload["spec"]["serviceName"]
    (monitor,) = of(resources, "ServiceMonitor")
    wanted = monitor["spec"]["selector"]["matchLabels"]
    seen = [one for one in services if cluster.matches(wanted, one["metadata"]["labels"])]
    assert seen == services
    names = {port["name"] for one in seen for port in one["spec"]["ports"]}
    assert names == {endpoint["port"] for endpoint in monitor["spec"]["endpoints"]}


def policy(resources: tuple[Resource, ...], direction: str) -> Resource:
    """Return what the one policy of a direction says."""
    (found,) = [
        dict(one["spec"])
        for one in of(resources, "NetworkPolicy")
        if direction in one["spec"]["policyTypes"]
    ]
    return found


@each
def test_drains_and_policies_mean_our_pods(name: str) -> None:
    resources = overlay(name)
    labels = [
        one["spec"]["template"]["metadata"]["labels"]
        for one in pods(resources).values()
        if one["metadata"]["namespace"] == "fabrichealth"
    ]
    for one in of(resources, "PodDisruptionBudget"):
        wanted = one["spec"]["selector"]["matchLabels"]
        assert any(cluster.matches(wanted, given) for given in labels), named(one)
        assert one["spec"]["maxUnavailable"] == 1  # a budget that forbids all would stop drains
    asked = policy(resources, "Ingress")["podSelector"].get("matchLabels", {})
    assert all(cluster.matches(asked, given) for given in labels)


@each
def test_analyzers_may_reach_what_the_site_file_names_and_names_lead_there(name: str) -> None:
    resources = overlay(name)
    plain = site(name)
    said = [plain["store"].get(key, "") for key in ("read", "write", "url")]
    said += [one["url"] for one in plain["notify"]]
    reached = [urlsplit(address) for address in said if address]
    rules = policy(resources, "Egress")["egress"]
    allowed = {port["port"] for rule in rules for port in rule["ports"]}
    assert {address.port for address in reached} <= allowed
    peers = {
        (one["metadata"]["namespace"], one["metadata"]["name"])
        for one in of(resources, "Service")
        if one["spec"].get("type") == "ExternalName"
    }
    assert {("fabrichealth", address.hostname) for address in reached} <= peers


def test_the_scheduler_source_may_list_what_it_lists_and_nothing_else() -> None:
    from collectors.scheduler.api import NODES, OPTIONAL, PODS  # noqa: PLC0415

    paths = [NODES, PODS, *(path for every in OPTIONAL.values() for path in every)]
    asked = set()
    for path in paths:
        *_, group, _, what = urlsplit(path).path.split("/")
        asked.add(("" if group == "api" else group, what))
    (role,) = of(overlay(OVERLAYS[0]), "ClusterRole")
    allowed = {
        (group, what)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for what in rule["resources"]
    }
    assert allowed == asked
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"list"}
    (binding,) = of(overlay(OVERLAYS[0]), "ClusterRoleBinding")
    assert [one["name"] for one in binding["subjects"]] == ["collector"]


def with_component(component: str, name: str, into: Path) -> tuple[Resource, ...]:
    """Return what an overlay makes that takes one component more."""
    shutil.copytree(DEPLOY, into / "deploy")
    folder = into / "deploy/kubernetes/overlays" / name
    text = (folder / "kustomization.yaml").read_text()
    more = f"components:\n  - ../../components/{component}\n"
    (folder / "kustomization.yaml").write_text(text.replace("components:\n", more, 1))
    return tuple(built(folder))


def test_webhooks_are_reached_where_a_site_wants_them(tmp_path: Path) -> None:
    before = [named(one) for one in of(overlay(OVERLAYS[0]), "NetworkPolicy")]
    resources = with_component("webhooks", OVERLAYS[0], tmp_path)
    (way,) = [one for one in of(resources, "NetworkPolicy") if named(one) not in before]
    assert way["spec"]["policyTypes"] == ["Egress"]
    assert [port["port"] for rule in way["spec"]["egress"] for port in rule["ports"]] == [443]
    labels = {who: one["spec"]["template"]["metadata"]["labels"]
              for who, one in pods(resources).items()}  # fmt: skip
    chosen = way["spec"]["podSelector"]["matchLabels"]
    reaching = {who for who, given in labels.items() if cluster.matches(chosen, given)}
    assert reaching == {who for who in labels if who.startswith("analyzer")}


@each
def test_collectors_bring_their_events_to_analyzers(name: str) -> None:
    resources = overlay(name)
    (rule,) = policy(resources, "Ingress")["ingress"]
    (asked,) = [one["podSelector"] for one in rule["from"] if "podSelector" in one]
    collector = pods(resources)["collector"]["spec"]["template"]["metadata"]["labels"]
    assert cluster.matches(asked["matchLabels"], collector)


@each
def test_remediators_may_set_conditions_where_a_site_wants_them(name: str, tmp_path: Path) -> None:
    resources = with_component("remediation", name, tmp_path)
    roles = {one["metadata"]["name"]: one["rules"] for one in of(resources, "ClusterRole")}
    assert roles["fabrichealth-remediation"] == [
        {"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["patch"]}
    ]
    analyzers = [one for who, one in pods(resources).items() if who.startswith("analyzer")]
    for one in analyzers:
        assert one["spec"]["template"]["spec"]["serviceAccountName"] == "analyzer"
        places = {mount["mountPath"] for mount in cluster.container(one)["volumeMounts"]}
        assert str(ACCOUNT) in places
    assert not any(role.startswith("fabrichealth-remed") for role in named_roles(overlay(name)))


def named_roles(resources: tuple[Resource, ...]) -> set[str]:
    """Return the names of cluster roles."""
    return {one["metadata"]["name"] for one in of(resources, "ClusterRole")}
