"""How soon a domain is whole again: the distribution of recovery times, phase by phase."""

from dashboards.board import Query, Question, Row
from fabrichealth.catalogue.verdicts import RECOVERY_BOUNDS, RECOVERY_BUCKET, RECOVERY_COUNT
from fabrichealth.narrative import span

HERE = 'domain=~"$domain"'
WHOLE = f'{HERE},phase="all"'
WEEKS = "28d"
"""Recoveries are few: less says nothing about a tail."""


def _quantile(share: float, name: str) -> Query:
    grown = f"sum by (le) (max by (domain, le) (increase({RECOVERY_BUCKET}{{{WHOLE}}}[{WEEKS}])))"
    return Query(f"histogram_quantile({share:g}, {grown})", name)


def _within(bound: str) -> str:
    """Return how many recoveries of the last hours took at most so long."""
    wanted = f'{RECOVERY_BUCKET}{{{WHOLE},le="{bound}"}}'
    return f"sum(max by (domain) (increase({wanted}[6h])))"


def _bands() -> list[Query]:
    """Return one query for each band between two bounds, the shortest first."""
    bounds = [*map(str, RECOVERY_BOUNDS), "+Inf"]
    names = [f"up to {span(bound)}" for bound in RECOVERY_BOUNDS]
    names.append(f"beyond {span(RECOVERY_BOUNDS[-1])}")
    below = ["", *(f" - {_within(bound)}" for bound in bounds)]
    return [
        Query(f"{_within(bound)}{less}", name)
        for bound, less, name in zip(bounds, below, names, strict=False)
    ]


ROW = Row(
    "Recovery",
    (
        Question(
            "Recovery times",
            _bands(),
            "How long recoveries took, from the first evidence until the cause was gone and what "
            "had been drained was back; each column tells of those that were over within the six "
            "hours before it. Drills are left out.",
            kind="heatmap",
        ),
        Question(
            "Median, 90 %, 99 %",
            [_quantile(0.5, "median"), _quantile(0.9, "90 %"), _quantile(0.99, "99 %")],
            "Of recoveries that were over in the last four weeks; open ones are not in it, so that "
            "a long repair shows late. `fabrichealth explain DOMAIN` counts them as going on.",
        ),
        Question(
            "Where the time goes",
            [
                Query(
                    "histogram_quantile(0.5, sum by (phase, le) (max by (domain, phase, le) "
                    f'(increase({RECOVERY_BUCKET}{{{HERE},phase!="all"}}[{WEEKS}]))))',
                    "{{phase}}",
                )
            ],
            "Median of each phase over four weeks: detect, diagnose, drain, repair, verify.",
        ),
        Question(
            "Recoveries",
            [
                Query(
                    f"sum by (domain) (max by (domain, phase) "
                    f"(increase({RECOVERY_COUNT}{{{WHOLE}}}[1d])))",
                    "{{domain}}",
                )
            ],
            "How many were over in the last day.",
        ),
    ),
)
