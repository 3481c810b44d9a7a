"""A job on accelerators that another job still has, or that nobody knows.

Who holds what decides what is idle, what is free and whom a failure hits, so a list that cannot be
so is named before any of that is believed. Quiet about what one poll of a scheduler may leave for a
moment, about jobs that have ended, and while the scheduler is silent.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.domain.allocation import HELD, UNKNOWN, Allocation, allocation
from analyzer.evidence.domain.jobs import Oddity
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.accelerators import ALLOCATED, UTILIZATION
from fabrichealth.catalogue.devices import HOST_ALLOCATED
from fabrichealth.kinds import WATCH_DATA_IMPLAUSIBLE
from fabrichealth.model import Finding, Place, View
from fabrichealth.settings import Duration, seconds

OVERLAP, STRANGER = "two_jobs", "unknown_accelerator"

MOST_TOLD = 3
"""Accelerators that are named in a sentence."""


class JobsContradictedSettings(DetectorSettings):
    """Jobs-contradicted section of the configuration."""

    hold: Duration = seconds(300)
    """What is odd for less than this may be a list that was read while jobs changed."""

    every: Duration = seconds(30)
    """How often it judges: schedulers are read no faster."""


class JobsContradicted(Detector[JobsContradictedSettings]):
    """Jobs as they are told, against each other and the inventory; score counts accelerators."""

    kinds = (WATCH_DATA_IMPLAUSIBLE,)
    metrics = (ALLOCATED, UTILIZATION, HOST_ALLOCATED)
    settings_type = JobsContradictedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each job that cannot hold what it is said to hold."""
        held = allocation(view)
        if held.silent or not (held.state != UNKNOWN).any():
            return
        odd: dict[str, list[Oddity]] = defaultdict(list)
        for one in held.oddities:
            if one.what in {OVERLAP, STRANGER} and one.since <= view.now < one.until:
                odd[one.job].append(one)
        for job, found in odd.items():
            lasting = [one for one in found if view.now - one.since >= self.settings.hold]
            if lasting:
                yield _finding(view, held, job, lasting)


def _finding(view: View, held: Allocation, job: str, found: Sequence[Oddity]) -> Finding:
    names = sorted({one.accelerator for one in found})
    lines = []
    for one in found[:MOST_TOLD]:
        state, _ = held.of([one.accelerator])
        lines.append(
            evidence(
                ALLOCATED, (one.accelerator,), float(state[0] == HELD), view.now, one.says
            )
        )  # fmt: skip
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    kinds = {one.what for one in found}
    because = " and ".join(
        ["another job has not given them back"] * (OVERLAP in kinds)
        + ["the inventory does not know them"] * (STRANGER in kinds)
    )
    return Finding(
        kind=WATCH_DATA_IMPLAUSIBLE,
        about=Place("job", job),
        score=float(len(names)),
        since=min(one.since for one in found),
        at=view.now,
        evidence=lines,
        because=(
            f"job {job} is said to hold {', '.join(names[:MOST_TOLD])}{more}, but {because}: "
            "check the scheduler's names and the events of jobs"
        ),
    )
