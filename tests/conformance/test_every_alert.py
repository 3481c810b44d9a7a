"""What is asked of every rule: it parses, it is proven by promtool, somebody can act on it."""

import shutil
import subprocess
from pathlib import Path

import promql_parser
import pytest
import yaml

from alerts.alert import Alert, Case, Runbook
from alerts.generate import FOLDER, RULES, TESTS, alerts, files
from dashboards.check import metrics_of
from fabrichealth.catalogue import METRICS
from fabrichealth.kinds import KINDS, Severity

ALERTS = {alert.name: alert for alert in alerts()}

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
    assert f"{len(ALERTS)} rules found" in check.stdout


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
        if {said["alertname"] for said in one["alert_rule_test"]} == {name}
    ]
    assert tests["tests"]
    (tmp_path / Path(TESTS).name).write_text(yaml.safe_dump(tests))
    test = told("test", "rules", Path(TESTS).name, folder=tmp_path)
    assert test.returncode != 0
    assert name in test.stdout + test.stderr


@pytest.mark.parametrize("alert", ALERTS.values(), ids=ALERTS)
class TestEveryAlert:
    def test_parses_and_types_fit(self, alert: Alert) -> None:
        promql_parser.parse(alert.expr)

    def test_stands_on_the_catalogue_only(self, alert: Alert) -> None:
        assert metrics_of(alert.expr) <= METRICS.keys()
        assert metrics_of(alert.expr)

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
