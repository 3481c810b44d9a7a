"""Ailing: which devices are ill, be it by their links or by what they say of themselves."""

from dataclasses import dataclass

import numpy as np

from analyzer.evidence.durations import Bools, fresh, unbroken
from analyzer.evidence.parts.illness import Illness, illness
from analyzer.evidence.parts.witnesses import witnesses
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.accelerators import ERRORS, HEALTHY
from fabrichealth.model import Evidence, Place, View


@dataclass(frozen=True)
class Symptom:
    """Why a device is called ill."""

    since: float
    ill: tuple[Place, ...]
    """What of it is ill: links; nothing where it is the device itself."""
    line: Evidence


Ailing = dict[str, list[Symptom]]
"""Symptoms by device; one without any is not in it."""


def ailing(view: View) -> Ailing:
    """Return the devices that are ill now: by their links, by errors they count, by their word."""
    found: Ailing = {}
    for part in (_by_links(illness(view)), _of_errors(view), _unhealthy(view)):
        for device, symptoms in part.items():
            found.setdefault(device, []).extend(symptoms)
    return found


def _by_links(ill: Illness) -> Ailing:
    """Return symptoms by device, of links that are ill: both ends may be the cause."""
    found: Ailing = {}
    for unit in np.flatnonzero(ill.any & ill.heard).tolist():
        link = ill.own.links[int(ill.own.link[unit])]
        for said in witnesses(ill, unit)[:1]:
            symptom = Symptom(said.since, (Place("link", link.id),), said.evidence)
            for device in {end.device for end in link.ends}:
                found.setdefault(device, []).append(symptom)
    return found


def _of_errors(view: View) -> Ailing:
    """Return symptoms of accelerators that counted errors within the memory."""
    changes = view.changes(ERRORS)
    found: Ailing = {}
    for entry in np.flatnonzero(changes.increase > 0).tolist():
        labels = changes.labels(int(changes.row_of[entry]))
        at, by = float(changes.at[entry]), float(changes.increase[entry])
        line = evidence(ERRORS, labels, by, at, f"counted {by:.0f} of {labels[1]}", 0.0)
        found.setdefault(labels[0], []).append(Symptom(at, (), line))
    return found


def _unhealthy(view: View) -> Ailing:
    """Return symptoms of accelerators that call themselves unhealthy."""
    window = view[HEALTHY]
    if not len(window):
        return {}
    ill: Bools = window.values == 0
    since, _ = unbroken(ill, window)
    found: Ailing = {}
    for row in np.flatnonzero(fresh(window) & np.isfinite(since)).tolist():
        labels, at = window.labels(row), float(window.last_at[row])
        line = evidence(HEALTHY, labels, 0.0, at, "calls itself unhealthy", 1.0)
        found.setdefault(labels[0], []).append(Symptom(float(since[row]), (), line))
    return found
