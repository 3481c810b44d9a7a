"""An accelerator that reports errors of its own.

Only increases count: a gauge that still shows the last code an hour later is no error. Fatal is
what the device's log calls fatal, else the table of codes. Link codes are marked, so that the
incident of the link that is ill can claim them.
"""

from collections.abc import Iterator

import numpy as np

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.testimony import evidence
from analyzer.evidence.xid import FATAL, LINK_CODES, told
from fabrichealth.catalogue.accelerators import ERRORS
from fabrichealth.kinds import ACCELERATOR_ERRORS, Severity
from fabrichealth.model import Evidence, Finding, Place, View
from fabrichealth.settings import Duration, seconds


class AcceleratorErrorsSettings(DetectorSettings):
    """Accelerator-errors section of the configuration."""

    hold: Duration = seconds(900)
    """An error stays news for so long after it was counted last."""

    memory: Duration = seconds(3600)
    """Errors older than this are forgotten."""


class AcceleratorErrors(Detector[AcceleratorErrorsSettings]):
    """Increases of the error counters, by accelerator."""

    kinds = (ACCELERATOR_ERRORS,)
    metrics = (ERRORS,)
    settings_type = AcceleratorErrorsSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding per accelerator with an error within the hold."""
        changes = view.changes(ERRORS)
        recent = np.flatnonzero(changes.last(self.settings.hold) & (changes.increase > 0))
        by_device: dict[str, list[int]] = {}
        for entry in recent.tolist():
            device, _ = changes.labels(int(changes.row_of[entry]))
            by_device.setdefault(device, []).append(entry)
        logged = _called_fatal(view, self.settings.hold)
        for device, entries in by_device.items():
            lines: list[Evidence] = []
            codes: dict[str, float] = {}
            for entry in entries:
                _, code = labels = changes.labels(int(changes.row_of[entry]))
                codes[code] = codes.get(code, 0.0) + float(changes.increase[entry])
                at = float(changes.at[entry])
                lines.append(
                    evidence(ERRORS, labels, float(changes.increase[entry]), at, told(code), 0.0)
                )
            fatal = [c for c in codes if logged.get((device, c), c in FATAL)]
            listed = ", ".join(f"{told(code)} x{count:.0f}" for code, count in codes.items())
            yield Finding(
                kind=ACCELERATOR_ERRORS,
                about=Place("device", device),
                score=2.0 if fatal else 1.0,
                since=float(changes.at[entries[0]]),
                at=float(changes.at[entries[-1]]),
                evidence=lines,
                because=f"{device} reported {listed}{', fatal' if fatal else ''}",
                severity=Severity.PAGE if fatal else Severity.WATCH,
                detail={"link_codes": float(all(code in LINK_CODES for code in codes))},
            )


def _called_fatal(view: View, within: float) -> dict[tuple[str, str], bool]:
    """Return what the devices' logs say of their codes: fatal or not."""
    return {
        (event.scope.get("device", ""), str(event.more.get("code", ""))): bool(event.more["fatal"])
        for event in view.events
        if event.kind == "device_log" and "fatal" in event.more and event.at > view.now - within
    }
