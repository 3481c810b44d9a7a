"""A switch that uses only some of its uplinks, evenly: the hash of the tier below has chosen them.

Where the same hash decides at two tiers, the flows that arrive at a switch of the second have one
outcome of it in common, and only a subset of its uplinks ever gets any. Few large flows leave
links empty too, but then those in use are uneven. How many flows there are follows from how even
they are (the spread of N flows over k links is sqrt((k - 1) / N)), and N flows leave
m exp(-N / m) of m links empty by chance: far fewer than a hash that is the same twice.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from analyzer.detector import Detector, DetectorSettings
from analyzer.evidence.pause.siblings import Siblings, siblings
from analyzer.evidence.testimony import evidence
from fabrichealth.catalogue.ports import SPEED, TX_BYTES
from fabrichealth.kinds import FABRIC_ECMP_POLARIZED
from fabrichealth.model import Finding, Floats, Place, Port, View
from fabrichealth.settings import Duration, seconds

PARTS = 3
"""The window is judged in so many parts, each of which must say the same (D3)."""

LEAST_TOLD = 1e-3
"""Of links that chance leaves empty: less is none."""

MOST_FLOWS = 1e6
"""Links that are perfectly even do not prove more flows than this."""


class FabricEcmpPolarizedSettings(DetectorSettings):
    """ECMP-polarized section of the configuration."""

    window: Duration = seconds(1200)
    """How much of the recent past is looked at, poll by poll."""

    hold: Duration = seconds(900)
    """For so long the same links must stay empty."""

    memory: Duration = seconds(3600)
    """How far back the speed of ports is remembered."""

    every: Duration = seconds(300)
    """How often it judges: a hash does not change by itself."""

    empty: float = Field(default=0.05, gt=0, lt=1)
    """A link that carries less than this share of the busiest is empty."""

    load: float = Field(default=0.02, gt=0, lt=1)
    """A switch whose busiest uplink carries less than this is idle."""

    chance: float = Field(default=0.1, gt=0, lt=1)
    """So many empty links at most may be chance, of each that is empty."""

    least: int = Field(default=4, ge=3)
    """A switch with fewer uplinks is not judged."""


class FabricEcmpPolarized(Detector[FabricEcmpPolarizedSettings]):
    """Empty uplinks beyond chance; score 1.0 is as many as chance may leave."""

    kinds = (FABRIC_ECMP_POLARIZED,)
    metrics = (TX_BYTES, SPEED)
    remembers = (SPEED,)
    settings_type = FabricEcmpPolarizedSettings

    def judge(self, view: View) -> Iterator[Finding]:
        """Yield one finding for each switch whose uplinks are polarized."""
        if not len(view[TX_BYTES]):
            return
        every = siblings(view, TX_BYTES, self.settings.least)
        with np.errstate(invalid="ignore"):
            most = every.highest()
            idle = (every.load <= self.settings.empty * most) & (most >= self.settings.load)
        for number in np.unique(every.group[idle.any(axis=1)]).tolist():
            group = every.of(number)
            device = view.topology.devices.get(group.device)
            if device is None or device.role == "switch":
                yield from self._of(view, group, every.ports.ports)

    def _of(self, view: View, group: Siblings, ports: list[Port]) -> Iterator[Finding]:
        load = group.load[:, np.isfinite(group.load).all(axis=0)]
        if load.shape[1] < PARTS:
            return
        most = load.max(axis=0)
        taken = load > self.settings.empty * most
        idle_now = ~taken[:, -1]
        broken = np.flatnonzero(taken[idle_now].any(axis=0) | (most < self.settings.load))
        start = int(broken[-1]) + 1 if len(broken) else 0
        parts = np.array_split(load[:, start:], PARTS, axis=1)
        if min(part.shape[1] for part in parts) < 1:
            return
        since = self._since(view, group, ports, load.shape[1] - start)
        if view.now - since < self.settings.hold:
            return
        means = [part.mean(axis=1) for part in parts]
        used = [mean > self.settings.empty * mean.max() for mean in means]
        if any((one != used[0]).any() for one in used) or used[0].all() or used[0].sum() < 2:
            return
        mean = np.mean(means, axis=0)
        flows = _flows(mean[used[0]])
        by_chance = len(mean) * float(np.exp(-flows / len(mean)))
        empty = int((~used[0]).sum())
        if by_chance > self.settings.chance * empty:
            return
        idle = [ports[int(place)] for place in group.places[~used[0]]]
        busy = [ports[int(place)] for place in group.places[used[0]]]
        says = (
            f"{empty} of {len(mean)} uplinks stay empty while {len(busy)} share the load evenly "
            f"(as of {min(flows, MOST_FLOWS):.0f} flows or more, which would leave "
            f"{max(by_chance, LEAST_TOLD):.2g} empty at most)"
        )
        yield Finding(
            kind=FABRIC_ECMP_POLARIZED,
            about=Place("device", group.device),
            score=self.settings.chance * empty / max(by_chance, 1e-9),
            since=since,
            at=view.now,
            evidence=[
                evidence(TX_BYTES, port, float(load), view.now,
                         f"{port} carries {load:.1%} of its rate",
                         float(mean.mean()), "ratio")
                for port, load in zip(
                    [*busy[:4], *idle[:4]],
                    [*mean[used[0]][:4].tolist(), *mean[~used[0]][:4].tolist()], strict=True,
                )
            ],
            because=f"{group.device}: {says}: the tiers hash alike, give each a seed of its own",
            victims=tuple(Place("port", str(port)) for port in busy),
        )  # fmt: skip

    def _since(self, view: View, group: Siblings, ports: list[Port], polls: int) -> float:
        """Return when the last so many polls began (unix seconds)."""
        window = view[TX_BYTES]
        row = window.row(*ports[int(group.places[0])])
        if row is None:
            return view.now
        known = window.times[row, -polls - 1 :]
        return float(np.fmin.reduce(known, initial=view.now))


def _flows(load: Floats) -> float:
    """Return how many equal flows would be as uneven over these links."""
    spread = float(np.std(load) / np.mean(load))
    return min((len(load) - 1) / spread**2, MOST_FLOWS) if spread > 0 else MOST_FLOWS
