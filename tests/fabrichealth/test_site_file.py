"""The site file: what is right is taken, each thing that is wrong is one line with its place."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collectors.source import SourceSettings
from fabrichealth.cli._site import Setup, load
from fabrichealth.config import Site
from fabrichealth.errors import SiteError
from fabrichealth.model import SeriesTable
from fabrichealth.store.settings import StoreSettings

TOPOLOGY = "devices: [{name: leaf-01, role: switch}]\n"

WHOLE = """\
topology: topology.yaml
events: events.jsonl
state: state
listen: 127.0.0.1:0
web_config: web.yml
store: {kind: embedded, retention: {raw: 12h, 1m: 7d, 10m: 1y}, max_bytes: 5GiB}
sources:
  prom: {period: 20s, timeout: 3s}
targets:
  - {name: leaf-01, source: prom, address: "http://127.0.0.1:9/metrics", period: 7s}
  - {name: node, source: host, root: tree, device: host-001}
  - name: cdu-1
    source: prom
    address: https://cdu-1/metrics
    user: monitor
    secret_file: cdu.secret
    ca_file: /etc/ca.pem
    mapping: maps/own.yaml
detectors:
  link_down: {settle: 5s}
policy: {capacity_floor: 0.5, hold_down: 5m, grace: 10m, judge_every: 2s}
notify: [{kind: alertmanager, url: "http://127.0.0.1:9093"}]
"""


def site(folder: Path, text: str) -> Setup:
    """Return what a site file of this text, with a topology beside it, says."""
    (folder / "topology.yaml").write_text(TOPOLOGY)
    (folder / "site.yaml").write_text(text)
    return load(folder / "site.yaml")


def refusal(folder: Path, text: str) -> str:
    """Return what is wrong with a site file, without the folder; one line with file and line."""
    with pytest.raises(SiteError) as wrong:
        site(folder, text)
    told = str(wrong.value)
    assert "\n" not in told
    assert told.startswith(f"{folder / 'site.yaml'}:")
    return told.removeprefix(f"{folder / 'site.yaml'}:")


@pytest.fixture
def read(tmp_path: Path) -> Site:
    return site(tmp_path, WHOLE).site


def test_files_are_found_from_the_site_files_folder(read: Site, tmp_path: Path) -> None:
    assert read.topology == tmp_path / "topology.yaml"
    assert read.events == tmp_path / "events.jsonl"
    assert read.state == tmp_path / "state"
    assert read.web_config == tmp_path / "web.yml"
    _, host, cdu = read.targets
    assert host.root == tmp_path / "tree"
    assert cdu.secret_file == tmp_path / "cdu.secret"
    assert cdu.ca_file == Path("/etc/ca.pem")
    assert cdu.mapping == str(tmp_path / "maps/own.yaml")


def test_a_mapping_by_name_stays_a_name(tmp_path: Path) -> None:
    row = 'targets: [{name: a, source: prom, address: "http://a/", mapping: dcgm}]\n'
    assert site(tmp_path, row).site.targets[0].mapping == "dcgm"


def test_durations_and_sizes_are_read(read: Site) -> None:
    assert (read.policy.hold_down, read.policy.grace, read.policy.judge_every) == (300, 600, 2)
    store = read.store
    assert isinstance(store, StoreSettings)
    assert (store.retention.raw, store.retention.one_minute) == (43_200, 604_800)
    assert (store.retention.ten_minutes, store.max_bytes) == (31_536_000, 5 * 2**30)


def test_a_target_has_its_own_period_else_its_sources_else_the_default(tmp_path: Path) -> None:
    row = 'targets:\n  - {name: leaf-02, source: prom, address: "http://b/", timeout: 9s}\n'
    text = WHOLE.replace("targets:\n", row).replace("maps/own.yaml", "dcgm")
    text = text.replace("    ca_file: /etc/ca.pem\n", "")
    sources = site(tmp_path, text).sources(SeriesTable())
    given = {one.target.name: one.settings for one in sources if one.target.source == "prom"}
    assert (given["leaf-01"].period, given["leaf-01"].timeout) == (7, 3)
    assert (given["leaf-02"].period, given["leaf-02"].timeout) == (20, 9)
    (host,) = (one for one in sources if one.target.source == "host")
    assert host.settings.period == SourceSettings().period
    assert host.target.subject == "host-001"


def test_an_almost_empty_site_has_defaults(tmp_path: Path) -> None:
    found = site(tmp_path, "targets: []\nsources: {host: , prom: }\npolicy:\n  grace: 0\n").site
    assert found.listen == "127.0.0.1:9480"
    assert found.policy.grace == 0
    assert found.policy.hold_down == 1800


def test_variables_are_replaced_in_addresses_and_files_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEAF", "leaf-01.example")
    monkeypatch.setenv("WHERE", str(tmp_path / "elsewhere"))
    text = """\
state: ${WHERE}/state
targets:
  - {name: "n${LEAF}", source: prom, address: "http://${LEAF}:9100/metrics", user: "${LEAF}",
     secret_file: "${WHERE}/secret"}
notify: [{kind: alertmanager, url: "http://${LEAF}:9093"}]
"""
    found = site(tmp_path, text).site
    (target,) = found.targets
    assert target.address == "http://leaf-01.example:9100/metrics"
    assert target.secret_file == tmp_path / "elsewhere/secret"
    assert found.state == tmp_path / "elsewhere/state"
    assert found.notify[0].url == "http://leaf-01.example:9093"
    assert (target.name, target.user) == ("n${LEAF}", "${LEAF}")


def test_a_variable_that_is_not_set_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_SET", raising=False)
    told = refusal(tmp_path, "topology: topology.yaml\nstate: ${NOT_SET}/x\n")
    assert told == "2: state: environment variable NOT_SET is not set"


PROM = 'targets:\n  - {name: a, source: prom, address: "http://a/"'


def target(source: str, address: str, more: str = "") -> str:
    return f"targets:\n  - {{name: a, source: {source}, address: '{address}'{more}}}\n"


LISTENS = "  - {{name: {}, source: kernlog, address: 'syslog+udp://{}'}}\n"


def listening(*places: str) -> str:
    return "targets:\n" + "".join(LISTENS.format(f"l{n}", one) for n, one in enumerate(places))


WRONG: dict[str, tuple[str, str, str]] = {
    # text; line and key; words that say what to do
    "query": (
        target("sonic", "redis://h?password=HUNTER"), "2: targets.0.address", "nothing behind ?"
    ),
    "query of gNMI": (
        target("gnmi", "grpc://h/?password=HUNTER"), "2: targets.0.address", "nothing behind ?"
    ),
    "user": (target("snmp", "snmp://HUNTER@h"), "2: targets.0.address", "holds no user"),
    "port 0": (target("snmp", "snmp://h:0"), "2: targets.0.address", "0 is no port"),
    "map nobody reads": (
        target("snmp", "snmp://h", ", map: /nope"), "2: targets.0.map", "snmp makes no use of it"
    ),
    "auth of HTTP": (
        target("ufm", "http://h", ", auth: sha"), "2: targets.0.auth", "it takes user, secret_file"
    ),
    "mapping of NetBox": (
        target("netbox", "http://h", ", mapping: dcgm"), "2: targets.0.mapping", "no use of it"
    ),
    "name that does not print": (
        'targets:\n  - {name: "a\\nb", source: host}\n', "2: targets.0.name", "does not print"
    ),
    "socket twice": (listening("127.0.0.1:2000", "127.0.0.1:2000"), "3: targets.1.address",
                     "the target in line 2 listens there already"),
    "socket of every host": (listening("h", "0.0.0.0:514"), "3: targets.1.address", "line 2"),
    "commands that change": (
        "sources:\n  eapi: {commands: [reload now]}\ntargets: []\n", "2: sources.eapi.commands",
        "is no show command",
    ),
    "show that writes": (
        "sources:\n  eapi: {commands: ['show version > flash:x']}\ntargets: []\n",
        "2: sources.eapi.commands", "is no show command",
    ),
    "no mapping": ("- a\n- b\n", "1", "a site file is a mapping"),
    "empty": ("", "1", "a site file is a mapping"),
    "not YAML": ("targets: [\n  {a: b\n", "3", "not YAML"),
    "tab": ("policy:\n\tgrace: 1m\n", "2", "not YAML"),
    "key twice": ("state: a\nlisten: 127.0.0.1:1\nstate: b\n", "3: state", "given twice"),
    "unknown key": ("state: a\nstatee: b\n", "2: statee", "unknown key"),
    "unknown key of policy": ("policy:\n  graze: 1m\n", "2: policy.graze", "unknown key"),
    "unknown key of the store": ("store: {kinds: embedded}\n", "1: store.kinds", "unknown key"),
    "store of another kind": ("store:\n  kind: rrd\n", "2: store.kind", "embedded"),
    "retention": ("store:\n  retention:\n    raw: 24\n", "3: store.retention.raw", "24h or 14d"),
    "size": ("store:\n  max_bytes: 20GB\n", "2: store.max_bytes", "20GiB"),
    "negative duration": ("policy: {grace: -5m}\n", "1: policy.grace", "not a duration"),
    "duration without unit": ("policy:\n  hold_down: 30\n", "2: policy.hold_down", "30"),
    "share beyond one": ("policy:\n  capacity_floor: 75\n", "2: policy.capacity_floor", "1"),
    "judging without pause": ("policy:\n  judge_every: 0\n", "2: policy.judge_every", "than 0"),
    "watching closely without pause": (
        "close_watch:\n  period: 0\n", "2: close_watch.period", "than 0",
    ),
    "calm above what pauses": (
        "close_watch:\n  calm: 0.1\n", "1: close_watch", "calm 0.1 is above pause 0.01",
    ),
    "every visit twice, in percent": (
        "close_watch: {targets: 5}\n", "1: close_watch.targets", "1",
    ),
    "unknown key of close_watch": (
        "close_watch:\n  pauze: 1\n", "2: close_watch.pauze", "unknown key",
    ),
    "policy is a word": ("policy: strict\n", "1: policy", "mapping"),
    "listen without port": ("listen: 127.0.0.1\n", "1: listen", "HOST:PORT"),
    "listen beyond ports": ("listen: 127.0.0.1:70000\n", "1: listen", "HOST:PORT"),
    "listen in Arabic": ("listen: 127.0.0.1:٩٤٨٠\n", "1: listen", "HOST:PORT"),
    "listen in Roman": ("listen: 127.0.0.1:²\n", "1: listen", "HOST:PORT"),
    "unknown source": ("sources:\n  snmmp: {}\n", "2: sources.snmmp", "'snmmp' is not among"),
    "key of a source": ("sources:\n  prom:\n    periods: 1s\n", "3: sources.prom.periods", "unk"),
    "source is a list": ("sources:\n  prom: []\n", "2: sources.prom", "mapping"),
    "source is false": ("sources:\n  prom: false\n", "2: sources.prom", "mapping"),
    "period of nothing": ("sources:\n  prom: {period: 0s}\n", "2: sources.prom.period", "than 0"),
    "timeout of nothing": ("sources:\n  prom: {timeout: 0}\n", "2: sources.prom.timeout", "than 0"),
    "unknown detector": ("detectors:\n  link_dwon: {}\n", "2: detectors.link_dwon", "link_down"),
    "key of a detector": (
        "detectors:\n  link_down: {duty: 1}\n",
        "2: detectors.link_down.duty",
        "unknown key",
    ),
    "targets are a mapping": ("targets: {a: b}\n", "1: targets", "list"),
    "target is a word": ("targets:\n  - leaf-01\n", "2: targets.0", "mapping"),
    "target without a name": (
        'targets:\n  - {source: prom, address: "http://a/"}\n',
        "2: targets.0.name",
        "is missing",
    ),
    "tree of another host without a name": (
        "targets: [{source: host, root: tree}]\n",
        "1: targets.0.name",
        "is missing",
    ),
    "target without a source": ("targets:\n  - name: a\n", "2: targets.0.source", "is missing"),
    "target of no source": (
        "targets:\n  - {name: a,\n     source: b}\n",
        "3: targets.0.source",
        "'b' is not among",
    ),
    "target with an empty name": ('targets: [{name: "", source: host}]\n', "1: targets.0.name", ""),
    "name with a slash": ("targets: [{name: a/b, source: host}]\n", "1: targets.0.name", "write _"),
    "name like a link": ("targets: [{name: a--b, source: host}]\n", "1: targets.0.name", "write _"),
    "device with a slash": (f"{PROM}, device: a/b}}\n", "2: targets.0.device", "write _"),
    "unknown key of a target": (f"{PROM}, pasword: x}}\n", "2: targets.0.pasword", "unknown key"),
    "period of a target": (f"{PROM}, period: 10}}\n", "2: targets.0.period", "10s"),
    "period of a target of nothing": (f"{PROM}, period: 0s}}\n", "2: targets.0.period", "than 0"),
    "address missing": ("targets:\n  - {name: a, source: prom}\n", "2: targets.0", "http://HOST"),
    "address of what runs here": (
        'targets: [{name: a, source: host, address: "http://a/"}]\n',
        "1: targets.0.address",
        "runs on the host",
    ),
    "address of another kind": (
        'targets: [{name: a, source: prom, address: "redis://a:1"}]\n',
        "1: targets.0.address",
        "http://HOST or https://HOST",
    ),
    "address without a scheme": (
        "targets: [{name: a, source: prom, address: leaf-01}]\n",
        "1: targets.0.address",
        "http://HOST",
    ),
    "address without a host": (
        'targets: [{name: a, source: prom, address: "http://"}]\n',
        "1: targets.0.address",
        "http://HOST",
    ),
    "port that is none": (
        'targets: [{name: a, source: prom, address: "http://a:x/"}]\n',
        "1: targets.0.address",
        "not an address",
    ),
    "target twice": (
        f"{PROM}}}\n  - {{name: b, source: host}}\n"
        '  - {name: a, source: prom, address: "http://b/"}\n',
        "4: targets.2.name",
        "already, in line 2",
    ),
    "notify of another kind": ("notify:\n  - {kind: pager, url: x}\n", "2: notify.0.kind", "alert"),
    "notify without url": ("notify: [{kind: alertmanager}]\n", "1: notify.0.url", "is missing"),
    "notify by mail": (
        'notify: [{kind: alertmanager, url: "mailto:me@x"}]\n',
        "1: notify.0.url",
        "http://HOST",
    ),
    "notify is a mapping": ("notify: {kind: alertmanager}\n", "1: notify", "list"),
}  # fmt: skip


def test_this_host_goes_by_its_own_name_and_listens_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "host-007.example")
    monkeypatch.setenv("LISTEN", "127.0.0.1:9481")
    text = "listen: ${LISTEN}\ntargets: [{source: host}, {source: aer}]\n"
    found = site(tmp_path, text).site
    assert found.listen == "127.0.0.1:9481"
    assert [row.name for row in found.targets] == ["host-007", "host-007"]


@pytest.mark.parametrize(("text", "place", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_with_its_place(
    tmp_path: Path, text: str, place: str, words: str
) -> None:
    told = refusal(tmp_path, text)
    assert told.startswith(f"{place}: "), told
    assert words in told, told


@pytest.mark.parametrize(
    "address",
    [
        "http://user:hunter2@a/",
        "http://user:hunter2@a:port/",
        "http://user:hunter2@[::1/",
        "redis://:hunter2@a",
        "hunter2://user:hunter2@a/",
        "http://user:x/hunter2@a/",
        "http://user:hunter2?x@a/",
        "http://user:x#hunter2@a:port/",
        "redis://user:hunter2/@a",
    ],
)
@pytest.mark.parametrize("notified", [False, True])
def test_a_secret_in_an_address_is_not_repeated(
    tmp_path: Path, address: str, notified: bool
) -> None:
    if notified:
        told = refusal(tmp_path, f'notify: [{{kind: alertmanager, url: "{address}"}}]\n')
        assert "hunter2" not in told
        return
    told = refusal(tmp_path, f'targets: [{{name: a, source: prom, address: "{address}"}}]\n')
    assert "hunter2" not in told
    assert "secret_file" in told


def test_an_at_sign_behind_a_plain_host_is_no_password(tmp_path: Path) -> None:
    address = "http://a:9100/metrics?owner=me@b"
    setup = site(tmp_path, f'targets: [{{name: a, source: prom, address: "{address}"}}]\n')
    assert setup.site.targets[0].address == address


def test_a_query_of_a_refused_address_is_not_repeated(tmp_path: Path) -> None:
    address = "redis://monitor@a:1?token=hunter2"
    told = refusal(tmp_path, f'targets: [{{name: a, source: prom, address: "{address}"}}]\n')
    assert "'redis://..@a:1' is not an address" in told


@pytest.mark.parametrize("key", ["password", "secret", "token"])
def test_a_secret_as_a_value_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    told = refusal(tmp_path, f"{PROM}, {key}: hunter2}}\n")
    assert told.startswith(f"2: targets.0.{key}: unknown key")
    assert "hunter2" not in told


def test_the_same_device_may_be_read_by_two_sources(tmp_path: Path) -> None:
    text = f"{PROM}}}\n  - {{name: a, source: host}}\n"
    assert len(site(tmp_path, text).site.targets) == 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (None, "cannot be read"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"topology: nowhere.yaml\n", "nowhere"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, body: bytes | None, words: str
) -> None:
    path = tmp_path / "site.yaml"
    if body is not None:
        path.write_bytes(body)
    with pytest.raises(SiteError, match=words) as wrong:
        load(path)
    assert "\n" not in str(wrong.value)
    assert str(tmp_path) in str(wrong.value)


@settings(
    max_examples=75, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_spoiled_site_file_is_taken_or_refused_in_one_line(
    tmp_path: Path, data: st.DataObject
) -> None:
    lines = WHOLE.splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    junk = st.text(st.sampled_from("ab: -[]{}\"'#&*!|>%@`\n\t0,.?") | st.characters(codec="utf-8"))
    lines[at] = data.draw(st.sampled_from([lines[at], ""])) + data.draw(junk)
    try:
        site(tmp_path, "\n".join(lines))
    except SiteError as wrong:
        assert len(str(wrong).splitlines()) == 1  # noqa: PT017 - it may also be taken
