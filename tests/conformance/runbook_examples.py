"""Writes `alerts/examples`: what `explain` tells of the sick pod of each detector.

`python -m tests.conformance.runbook_examples`, then `fabrichealth generate`. One file a kind, of
the first detector by name whose sick pod becomes an incident of that kind.
"""

import tempfile
from pathlib import Path

from alerts.generate import EXAMPLES
from fabrichealth import narrative
from fabrichealth.model import Incident
from tests.conformance.test_every_detector import DETECTORS
from tests.conformance.test_every_story import told_of


def example(incident: Incident) -> str:
    """Return what `explain` tells of an incident."""
    return narrative.story(incident.to_json()) + "\n"


def main() -> None:
    """Write them all."""
    texts: dict[str, str] = {}
    for name, detector in DETECTORS.items():
        with tempfile.TemporaryDirectory() as folder:
            incident = told_of(detector, Path(folder))
        texts.setdefault(incident.kind.name, f"{name}\n{example(incident)}")
    for kind, text in texts.items():
        (EXAMPLES / f"{kind}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
