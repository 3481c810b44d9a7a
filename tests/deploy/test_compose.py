"""Compose: right by its specification; what is mounted is taken by those who read it."""

import re
import shutil
from pathlib import Path
from typing import Any

import compose_spec
import pytest
import yaml

from fabrichealth import __version__
from fabrichealth.cli._units import LISTEN
from tests.deploy.shipped import DEPLOY, site, told
from tests.end_to_end.processes import HOST, needs
from tests.house.checkout import ROOT

FOLDER = DEPLOY / "compose"
TEXT = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", (FOLDER / "compose.yaml").read_text())
SERVICES: dict[str, Any] = yaml.safe_load(TEXT)["services"]
OURS = [name for name, one in SERVICES.items() if one["image"].startswith("fabrichealth:")]


def taken(text: str) -> None:
    """Hold a compose file to the specification.

    Raises:
        ValueError: what is wrong with it.
    """
    options = compose_spec.PyOptions(apply_merge=True)
    options.from_yaml(text).validate()


def test_the_specification_takes_it() -> None:
    taken(TEXT)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("cap_drop:", "drop_caps:"), ("source: site,", "source: sight,"), (":3000:", ":http:")],
    ids=["unknown key", "config that is not there", "port that is none"],
)
def test_the_specification_would_refuse_a_mistake(right: str, wrong: str) -> None:
    assert right in TEXT
    with pytest.raises(ValueError, match=r"."):
        taken(TEXT.replace(right, wrong, 1))


def test_files_that_are_mounted_are_there() -> None:
    plain = yaml.safe_load(TEXT)
    files = [FOLDER / one["file"] for one in plain["configs"].values()]
    folders = [
        FOLDER / volume.partition(":")[0]
        for one in SERVICES.values()
        for volume in one["volumes"]
        if volume.startswith("..")
    ]
    assert [path for path in (*files, *folders) if not path.exists()] == []


@pytest.mark.parametrize("name", SERVICES)
def test_nobody_has_a_privilege_or_is_seen_from_elsewhere(name: str) -> None:
    one = SERVICES[name]
    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]
    assert one["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith(f"{HOST}:") for port in one.get("ports", ()))
    assert "privileged" not in one
    assert re.fullmatch(r"[\w./-]+:v?\d[\w.-]*", one["image"])


def test_ours_are_of_this_release_and_share_the_targets() -> None:
    assert {SERVICES[name]["image"] for name in OURS} == {f"fabrichealth:{__version__}"}
    shares = {word for name in OURS for word in SERVICES[name]["command"] if "/" in word}
    assert {"1/2", "2/2"} <= shares


def test_they_find_each_other_by_the_names_that_the_files_say() -> None:
    plain = site("victoriametrics")
    said = [plain["store"]["read"], plain["store"]["write"], plain["notify"][0]["url"]]
    said += [one["url"] for one in loaded("grafana/datasources.yaml")["datasources"]]
    hosts = {address.split("/")[2].partition(":")[0] for address in said}
    (job,) = loaded("prometheus.yml")["scrape_configs"]
    scraped = {target for row in job["static_configs"] for target in row["targets"]}
    assert scraped == {f"{name}:{LISTEN.rpartition(':')[2]}" for name in OURS}
    assert hosts <= SERVICES.keys()


def test_grafana_finds_the_boards_and_only_those_of_its_source() -> None:
    (source,) = loaded("grafana/datasources.yaml")["datasources"]
    (provider,) = loaded("grafana/dashboards.yaml")["providers"]
    where = provider["options"]["path"]
    mounts = [one.split(":") for one in SERVICES["grafana"]["volumes"]]
    (boards,) = [FOLDER / host for host, place, *_ in mounts if place == where]
    hidden = {Path(place).name for place in SERVICES["grafana"]["tmpfs"] if place.startswith(where)}
    assert hidden == {path.name for path in boards.iterdir() if path.is_dir()}
    asked = {
        variable["query"]
        for path in boards.glob("*.json")
        for variable in yaml.safe_load(path.read_text())["templating"]["list"]
        if variable["type"] == "datasource"
    }
    assert asked == {source["type"]}


def loaded(name: str) -> Any:
    """Return what a file beside the compose file says."""
    return yaml.safe_load((FOLDER / name).read_text())


def mounted(service: str, place: str) -> Path:
    """Return what a service sees at a place of its own."""
    volumes: list[str] = SERVICES[service]["volumes"]
    for volume in volumes:
        host, inside, *_ = volume.split(":")
        if place.startswith(f"{inside}/") and host.startswith(".."):
            return (FOLDER / host / place.removeprefix(f"{inside}/")).resolve()
    raise AssertionError(f"{service} sees nothing at {place}")


@needs("promtool")
def test_promtool_takes_the_configuration_with_the_rules_that_are_mounted(tmp_path: Path) -> None:
    text = (FOLDER / "prometheus.yml").read_text()
    (pattern,) = yaml.safe_load(text)["rule_files"]
    rules = mounted("prometheus", pattern)
    (tmp_path / "prometheus.yml").write_text(text.replace(pattern, str(rules)))
    checked = told("promtool", "check", "config", tmp_path / "prometheus.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "rules found" in checked.stdout


@needs("promtool")
def test_promtool_takes_what_is_to_be_added_to_a_prometheus(tmp_path: Path) -> None:
    shutil.copy(DEPLOY / "prometheus/prometheus.yml", tmp_path)
    shutil.copy(ROOT / "alerts/generated/fabrichealth.rules.yaml", tmp_path)
    checked = told("promtool", "check", "config", tmp_path / "prometheus.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert LISTEN in (tmp_path / "prometheus.yml").read_text()


@needs("vmalert", "victoria-metrics")
def test_vmalert_takes_the_rules_for_those_who_have_it_in_place_of_a_prometheus() -> None:
    rules = f"-rule={ROOT / 'alerts/generated'}/*.rules.yaml"
    checked = told("vmalert", "-dryRun", rules)
    assert checked.returncode == 0, checked.stderr


@needs("amtool", "prometheus-alertmanager")
def test_amtool_takes_the_configuration_that_is_mounted() -> None:
    (word,) = [one for one in SERVICES["alertmanager"]["command"] if "config.file" in one]
    config = mounted("alertmanager", word.partition("=")[2])
    if not config.exists():
        pytest.skip(f"no {config.relative_to(ROOT)} is generated yet")
    checked = told("amtool", "check-config", config)
    assert checked.returncode == 0, checked.stdout + checked.stderr
