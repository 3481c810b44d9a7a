"""What is asked of every rule: it parses, it is proven by promtool, somebody can act on it."""

import re
import shutil
import subprocess
from pathlib import Path

import promql_parser
import pytest
import yaml

from alerts.alert import Alert, Case, Runbook
from alerts.generate import FOLDER, RULES, TESTS, alerts, files, recordings
from alerts.recording import Recording, Worked
from dashboards.check import metrics_of
from fabrichealth.catalogue import METRICS
from fabrichealth.kinds import KINDS, Severity

ALERTS = {alert.name: alert for alert in alerts()}
RECORDINGS = {one.name: one for one in recordings()}
RECORDED = {name.rpartition(":")[0] for name in RECORDINGS}

promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="no promtool; install the package prometheus"
)


def told(*words: str, folder: Path = FOLDER) -> subprocess.CompletedProcess[str]:
    """Return what promtool says of files in a folder."""
    return subprocess.run(
        ["promtool", *words], cwd=folder, capture_output=True, text=True, check=False
    )


@promtool
def test_promtool_takes_the_rules() -> None:
    check = told("check", "rules", RULES)
    assert check.returncode == 0, check.stderr
    assert f"{len(ALERTS) + len(RECORDINGS)} rules found" in check.stdout


@promtool
def test_every_proof_holds() -> None:
    test = told("test", "rules", TESTS)
    assert test.returncode == 0, test.stdout + test.stderr


@promtool
@pytest.mark.parametrize("name", ALERTS)
@pytest.mark.parametrize("broken", ["vector(1)", "vector(1) < 0"], ids=["always", "never"])
def test_proofs_catch_a_rule_that_always_or_never_fires(
    name: str, broken: str, tmp_path: Path
) -> None:
    rules = yaml.safe_load((FOLDER / RULES).read_text())
    (mine,) = [rule for rule in rules["groups"][0]["rules"] if rule["alert"] == name]
    rules["groups"][0]["rules"] = [mine | {"expr": broken}]
    (tmp_path / Path(RULES).name).write_text(yaml.safe_dump(rules))
    tests = yaml.safe_load((FOLDER / TESTS).read_text())
    tests["tests"] = [
        one
        for one in tests["tests"]
        if {said["alertname"] for said in one.get("alert_rule_test", ())} == {name}
    ]
    assert tests["tests"]
    (tmp_path / Path(TESTS).name).write_text(yaml.safe_dump(tests))
    test = told("test", "rules", Path(TESTS).name, folder=tmp_path)
    assert test.returncode != 0
    assert name in test.stdout + test.stderr


@pytest.mark.parametrize("alert", ALERTS.values(), ids=ALERTS)
class TestEveryAlert:
    def test_parses_and_types_fit(self, alert: Alert) -> None:
        promql_parser.parse(alert.rule)

    def test_stands_on_the_catalogue_only(self, alert: Alert) -> None:
        assert metrics_of(re.sub(r":\d+h", "", alert.rule)) <= METRICS.keys() | RECORDED
        assert metrics_of(alert.rule)

    def test_has_a_runbook_that_its_annotation_names(self, alert: Alert) -> None:
        rules = yaml.safe_load(files()[RULES])["groups"][0]["rules"]
        (rule,) = [rule for rule in rules if rule["alert"] == alert.name]
        page = (FOLDER / f"runbooks/{alert.name}.md").read_text(encoding="utf-8")
        for heading in ("Meaning", "Impact", "Diagnosis", "Mitigation"):
            assert f"## {heading}\n" in page
        assert alert.expr in page
        named = rule["annotations"]["runbook"]
        for kind in KINDS:
            assert (FOLDER.parent / named.replace("{{ $labels.kind }}", kind)).exists()

    def test_carries_its_severity(self, alert: Alert) -> None:
        rules = yaml.safe_load(files()[RULES])["groups"][0]["rules"]
        (rule,) = [rule for rule in rules if rule["alert"] == alert.name]
        assert rule["labels"] == {"severity": str(alert.severity)}

    def test_every_case_says_why(self, alert: Alert) -> None:
        assert all(case.why for case in alert.cases)

    def test_what_an_incident_accounts_for_is_told_once(self, alert: Alert) -> None:
        """A rule about something that has a place is quieted by an incident that names it."""
        whole = {label for case in alert.cases if case.fires for label in case.labels or ()}
        placed = whole & {"device", "loop", "feed", "bundle", "target"}
        if "incident" not in whole and placed and alert.page != "host.irq_misplaced":
            assert placed & {*alert.covered_by}
            assert alert.covered is not None


@promtool
@pytest.mark.parametrize("name", RECORDINGS)
def test_proofs_catch_a_recording_that_is_something_else(name: str, tmp_path: Path) -> None:
    rules = yaml.safe_load((FOLDER / RULES).read_text())
    for rule in rules["groups"][1]["rules"]:
        if rule["record"] == name:
            rule["expr"] = f"({rule['expr']}) * 2 + 1"
    (tmp_path / Path(RULES).name).write_text(yaml.safe_dump(rules))
    tests = yaml.safe_load((FOLDER / TESTS).read_text())
    tests["tests"] = [one for one in tests["tests"] if one["name"].startswith(f"{name}: ")]
    (tmp_path / Path(TESTS).name).write_text(yaml.safe_dump(tests))
    test = told("test", "rules", Path(TESTS).name, folder=tmp_path)
    assert test.returncode != 0


@pytest.mark.parametrize("one", RECORDINGS.values(), ids=RECORDINGS)
def test_every_recording_parses_stands_on_the_catalogue_and_says_what_it_is(
    one: Recording,
) -> None:
    promql_parser.parse(one.expr)
    assert metrics_of(one.expr)
    assert metrics_of(one.expr) <= METRICS.keys()
    assert one.means.endswith(".")


def test_a_recording_without_proof_or_with_a_name_of_its_own_cannot_be_written() -> None:
    proof = Worked({"a": "1x5"}, "5m", {"": 1.0}, "w")
    with pytest.raises(ValueError, match="labels:metric:operation"):
        Recording("port_errors", "a", "M.", (proof,))
    with pytest.raises(ValueError, match="needs a proof"):
        Recording("port:errors:max", "a", "M.", (Worked({}, "5m", {}, "w"),))


def test_every_kind_of_incident_has_a_page() -> None:
    pages = files()
    for kind in KINDS.values():
        assert kind.action in pages[f"runbooks/{kind.name}.md"]


BOOK = Runbook("m", "i", "d", "m")
FIRES = Case({"a": "1x5"}, at="5m", fires=True, why="w", labels={})
QUIET = Case({"a": "0x5"}, at="5m", fires=False, why="w")


@pytest.mark.parametrize(
    ("name", "cases", "says"),
    [
        ("NoQuietCase", (FIRES,), "stays quiet"),
        ("NoFiringCase", (QUIET,), "one case that fires"),
        ("not_camel", (FIRES, QUIET), "CamelCase"),
        ("Unlabelled", (Case({"a": "1"}, "5m", True, "w"), QUIET), "which labels"),
    ],
)
def test_a_rule_without_proof_cannot_be_written(
    name: str, cases: tuple[Case, ...], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        Alert(name, "a > 0", "1m", Severity.TICKET, "s", BOOK, cases)
