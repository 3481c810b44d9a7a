"""Recording: what boards, alerts and people ask dearly and often, worked out once, with its proof.

One file in `alerts/recordings` holds one `RECORDING` or several. Names are Prometheus' own custom:
labels that are left, what is measured, what was done to it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Worked:
    """A proof: series in promtool's notation (one sample a minute), and what comes of them."""

    series: Mapping[str, str]
    at: str
    """When the result is looked at, such as `12m`."""
    gives: Mapping[str, float]
    """Labels as PromQL writes them (`device="a", port="b"`) -> value; nothing: no series."""
    why: str


@dataclass(frozen=True)
class Recording:
    """One recording rule.

    Raises:
        ValueError: the name is not `labels:metric:operation`, or there is no proof.
    """

    name: str
    expr: str
    means: str
    """One sentence for those who ask the series."""
    proofs: tuple[Worked, ...]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z_]+:[a-z0-9_]+:[a-z0-9_]+", self.name):
            raise ValueError(f"{self.name}: a recording's name is labels:metric:operation")
        if not any(proof.gives for proof in self.proofs):
            raise ValueError(f"{self.name}: needs a proof that gives something")
