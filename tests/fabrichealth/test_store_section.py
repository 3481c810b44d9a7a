"""The `store` section of a site file: which kind, which files, and what is wrong with it."""

from pathlib import Path

import pytest

from collectors.sharding import Shard
from fabrichealth.cli._site import load
from fabrichealth.errors import SiteError
from fabrichealth.store.engines.embedded import Embedded
from fabrichealth.store.engines.influx import Influx
from fabrichealth.store.engines.prometheus import Prometheus
from tests.fabrichealth.terminal import Terminal
from tests.fabrichealth.test_site_file import refusal, site

VM = 'kind: prometheus, read: "http://vm:8428", write: "http://vm:8428/api/v1/write"'
INFLUX = 'kind: influx, url: "http://i:8086", org: o, bucket: b, token_file: i.token'


@pytest.mark.parametrize(
    ("section", "kind", "shared"),
    [
        ("", Embedded, False),
        ("store: {kind: embedded}\n", Embedded, False),
        (f"store: {{{VM}}}\n", Prometheus, True),
        (f"store: {{{INFLUX}}}\n", Influx, True),
    ],
)
def test_the_kind_says_which_store_it_is(
    tmp_path: Path, section: str, kind: type[object], shared: bool
) -> None:
    engine = site(tmp_path, section + "state: state\n").store
    assert isinstance(engine, kind)
    assert (engine.shared, engine.state) == (shared, tmp_path / "state")


def test_files_are_found_and_variables_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VM", "vm.example")
    text = 'store: {kind: prometheus, read: "https://${VM}/x", token_file: t, ca_file: /etc/ca}\n'
    settings = site(tmp_path, text).store.settings
    assert settings.read == "https://vm.example/x"
    assert (settings.token_file, settings.ca_file) == (tmp_path / "t", Path("/etc/ca"))


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("{kind: files}", "1: store.kind: 'files' is not among embedded, influx, prometheus"),
        ("{kind: [prometheus]}", "1: store.kind: ['prometheus'] is not among"),
        ("{kind: prometheus}", "1: store: give read, write or both"),
        ("{kind: prometheus, read: vm}", "1: store.read: 'vm' is not an address"),
        (f"{{{VM}, max_bytes: 1GiB}}", "1: store.max_bytes: unknown key"),
        (f"{{{VM}, labels: {{device: a}}}}", "1: store.labels: 'device' cannot be a label"),
        (f"{{{VM}, lag: 5}}", "1: store.lag: 5 is not a duration"),
        ('{kind: influx, url: "http://i", version: 1}', "1: store: InfluxDB 1 needs db"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, section: str, told: str) -> None:
    assert refusal(tmp_path, f"store: {section}\n").startswith(told)


def test_check_looks_for_the_files_of_a_store(tmp_path: Path, terminal: Terminal) -> None:
    (tmp_path / "site.yaml").write_text(f"state: state\nstore: {{{INFLUX}}}\n")
    said = terminal("check", "-c", tmp_path / "site.yaml")
    assert said.status == 1
    assert "store: token_file" in said.err
    assert "cannot be read" in said.err
    (tmp_path / "i.token").write_text("t\n")
    assert terminal("check", "-c", tmp_path / "site.yaml").status == 0


def test_parts_of_a_site_have_clocks_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "topology.yaml").write_text(
        "devices: [{name: host-1, role: host, domain: pod-a}]\n"
    )
    (tmp_path / "site.yaml").write_text("topology: topology.yaml\n")
    path = tmp_path / "site.yaml"
    assert load(path).part == ""
    assert load(path, Shard(2, 3)).part == "-2/3"
    assert load(path, domains=("pod-a", "fabric")).part == "-pod-a,fabric"
    with pytest.raises(SiteError, match="no domain pod-b; there are fabric, pod-a"):
        load(path, domains=("pod-b",))
