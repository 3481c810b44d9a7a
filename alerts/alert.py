"""Alert: rule, runbook and proof together.

One file in `alerts/rules` holds one `ALERT`. It cannot be constructed without a case that fires
and one that stays quiet; both run under promtool. Rule file, rule tests and runbook pages are
generated from it and never edited.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabrichealth.catalogue.verdicts import INCIDENT_COVERS
from fabrichealth.kinds import Severity
from fabrichealth.settings import seconds_of


@dataclass(frozen=True)
class Runbook:
    """For someone tired at night."""

    meaning: str
    impact: str
    diagnosis: str
    mitigation: str


@dataclass(frozen=True)
class Case:
    """A proof: series in promtool's notation (one sample a minute), and whether it fires."""

    series: Mapping[str, str]
    """Exported name with labels -> values such as `0x5 1x20` ; `_` is a missing sample."""
    at: str
    """When the rule is looked at, such as `12m`."""
    fires: bool
    why: str
    """What the case shows; the quiet one is the tempting false alarm."""
    labels: Mapping[str, str] | None = None
    """Labels of the alert that fires, those of the rule itself aside."""
    value: str = ""
    """What `$value` becomes in the summary, as its filter writes it."""


@dataclass(frozen=True)
class Alert:
    """One alerting rule.

    Raises:
        ValueError: the name is not CamelCase, or a proof is missing.
    """

    name: str
    expr: str
    hold: str
    severity: Severity
    summary: str
    runbook: Runbook
    cases: tuple[Case, ...]
    page: str = ""
    """Runbook page that the alert links to, where it is not its own: that of the kind."""
    covered_by: tuple[str, ...] = ()
    """Labels by which an open incident, as grave at least, accounts for what the rule sees; the
    rule is quiet then. A suppressed incident accounts for it too: so maintenance mutes rules."""
    covered_kind: str = ""
    """Only incidents of this kind count; where water is in danger no other will do."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Z][A-Za-z0-9]+", self.name):
            raise ValueError(f"{self.name}: an alert's name is CamelCase")
        if {case.fires for case in self.cases} != {True, False}:
            raise ValueError(f"{self.name}: needs one case that fires and one that stays quiet")
        for case in self.cases:
            if case.fires and case.labels is None:
                raise ValueError(f"{self.name}: say which labels the alert of {case.why!r} has")
            if case.fires and not {*self.covered_by} <= {*(case.labels or {})}:
                raise ValueError(f"{self.name}: {case.why!r} lacks a label of covered_by")

    @property
    def rule(self) -> str:
        """The expression that Prometheus is given: what no incident accounts for."""
        if not self.covered_by:
            return self.expr
        labels = ", ".join(self.covered_by)
        kind = f'{{kind="{self.covered_kind}"}}' if self.covered_kind else ""
        covers = f"{INCIDENT_COVERS}{kind} >= {int(self.severity)}"
        return f"({self.expr}) unless on ({labels}) {covers}"

    @property
    def covered(self) -> Case | None:
        """The first firing case while an incident accounts for it; None for other rules.

        The incident is less grave than the rule up to the moment at which the case is looked at,
        and as grave from then on: the rule fires, and falls quiet.
        """
        if not self.covered_by:
            return None
        fires = next(case for case in self.cases if case.fires)
        named = {label: (fires.labels or {})[label] for label in self.covered_by}
        named |= {"kind": self.covered_kind} if self.covered_kind else {}
        inside = ",".join(f'{label}="{value}"' for label, value in named.items())
        minutes, grave = int(seconds_of(fires.at) // 60), int(self.severity)
        values = f"{grave - 1}x{minutes} {grave}x20"
        return replace(
            fires,
            series={**fires.series, f"{INCIDENT_COVERS}{{{inside}}}": values},
            why="an incident accounts for it, first a lesser one and then one as grave",
        )
