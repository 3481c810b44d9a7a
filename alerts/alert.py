"""Alert: rule, runbook and proof together.

One file in `alerts/rules` holds one `ALERT`. It cannot be constructed without a case that fires
and one that stays quiet; both run under promtool. Rule file, rule tests and runbook pages are
generated from it and never edited.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fabrichealth.kinds import Severity


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

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Z][A-Za-z0-9]+", self.name):
            raise ValueError(f"{self.name}: an alert's name is CamelCase")
        if {case.fires for case in self.cases} != {True, False}:
            raise ValueError(f"{self.name}: needs one case that fires and one that stays quiet")
        for case in self.cases:
            if case.fires and case.labels is None:
                raise ValueError(f"{self.name}: say which labels the alert of {case.why!r} has")
