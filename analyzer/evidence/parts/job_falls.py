"""Job falls: what an application's error does to all accelerators of its job is one event.

A job that dies takes every accelerator it has with it: each counts a page fault or a clean-up in
the same moment. That tells of the job, and nothing of what those accelerators have in common, be it
a version that only this job runs on.
"""

from collections.abc import Mapping, Sequence

from analyzer.evidence.domain.jobs import Jobs
from analyzer.evidence.parts.ailing import Symptom
from analyzer.evidence.xid import OF_APPLICATIONS
from fabrichealth.catalogue.accelerators import ERRORS

MOMENT = 120.0
"""Seconds within which the accelerators of one job count the errors of its fall."""

ENDED = 300.0
"""Seconds by which a scheduler may have told the end of a job before its errors are read."""


def of_one_fall(symptoms: Mapping[str, Sequence[Symptom]], told: Jobs) -> bool:
    """Return whether all that is ill of some accelerators is that one job of theirs fell, once."""
    lines = [one.line for mine in symptoms.values() for one in mine]
    if not lines or any(line.metric is not ERRORS for line in lines):
        return False
    if any(line.labels["code"] not in OF_APPLICATIONS for line in lines):
        return False
    first, last = min(line.at for line in lines), max(line.at for line in lines)
    return last - first <= MOMENT and any(
        job.since <= last and job.until >= first - ENDED and symptoms.keys() <= {*job.accelerators}
        for job in told.rows
    )
