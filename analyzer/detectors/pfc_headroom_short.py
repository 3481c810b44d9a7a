"""A lossless priority drops at its ingress: what was under way when it said stop did not fit.

Headroom must take what a cable's length, the delay of both ends and their response let through
after the pause (IEEE 802.1Qbb); a loss there is a loss that RoCE does not expect. One drop may be
a restart; drops in two polls of five are a threshold that is wrong.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.durations import heard
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.congestion import PFC_RX_DROPPED_PACKETS
from fabrichealth.kinds import PFC_HEADROOM_SHORT
from fabrichealth.model import Finding, Port, View
from fabrichealth.settings import Duration, seconds


class PfcHeadroomShortSettings(DetectorSettings):
    """PFC-headroom-short section of the configuration."""

    memory: Duration = seconds(86_400)
    """Drops older than this are forgotten."""

    polls: int = Field(default=2, ge=1)
    """So many polls with drops .."""

    among: int = Field(default=5, ge=1)
    """.. among so many, one after the other."""


class PfcHeadroomShort(Detector[PfcHeadroomShortSettings]):
    """Polls with drops on a lossless priority; score 1.0 is as many as are allowed at most."""

    kinds = (PFC_HEADROOM_SHORT,)
    metrics = (PFC_RX_DROPPED_PACKETS,)
    settings_type = PfcHeadroomShortSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each port that dropped in too many polls."""
        drops = view.changes(PFC_RX_DROPPED_PACKETS)
        grew = np.flatnonzero((drops.increase > 0) & heard(drops)[drops.row_of])
        by_port: dict[Port, list[int]] = {}
        for entry in grew.tolist():
            device, name, *_ = drops.labels(int(drops.row_of[entry]))
            by_port.setdefault(Port(device, name), []).append(entry)
        for port, entries in by_port.items():
            entries.sort(key=lambda entry: float(drops.at[entry]))
            row = int(drops.row_of[entries[-1]])
            span = self.settings.among * float(np.nan_to_num(drops.period[row], nan=0.0))
            ends = np.unique(drops.at[entries])  # several priorities of one poll are one
            together = ends[:, None] - ends[None, :]
            near = ((together >= 0) & (together < span)).sum(axis=1)
            if near.max() < self.settings.polls:
                continue
            count = float(drops.increase[entries].sum())
            last = float(ends[-1])
            labels = drops.labels(row)
            says = f"dropped {count:.0f} packets in {len(ends)} polls, on a lossless priority"
            yield Finding(
                kind=PFC_HEADROOM_SHORT,
                about=port,
                score=float(near.max()) / self.settings.polls,
                since=float(ends[0]),
                at=last,
                evidence=[evidence(PFC_RX_DROPPED_PACKETS, labels, count, last, says, 0.0)],
                because=f"{port} {says}: its headroom does not hold what is under way",
            )
