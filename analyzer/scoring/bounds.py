"""Bounds: how sure a share or a rate is that was counted from few events.

A share has its Clopper-Pearson interval (exact, 95 % two-sided); at 0 or all of n the bound is
the one-sided one, so that none of n leaves 1 - 0.05^(1/n), about 3/n: the rule of three. A rate
has its Garwood interval, with the rule of three at 0 events (docs/methods.md).
"""

from dataclasses import dataclass

from scipy.stats import beta

from analyzer.evidence.exposure import CONFIDENCE, garwood


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `n`; everything is None where nothing could be counted."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        """The share itself, 0..1."""
        return self.hits / self.n if self.n else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Lower and upper 95 % bound."""
        if not self.n:
            return None
        miss = 1.0 - CONFIDENCE
        if self.hits in {0, self.n}:
            one_sided = miss ** (1.0 / self.n)
            return (0.0, 1.0 - one_sided) if not self.hits else (one_sided, 1.0)
        low = beta.ppf(miss / 2, self.hits, self.n - self.hits + 1)
        high = beta.ppf(1 - miss / 2, self.hits + 1, self.n - self.hits)
        return float(low), float(high)

    def to_json(self) -> dict[str, object]:
        """Return the share with its n and its 95 % bounds; null where nothing was counted."""
        low, high = self.bounds or (None, None)
        return {"value": self.value, "hits": self.hits, "n": self.n, "low": low, "high": high}

    def __str__(self) -> str:
        if self.bounds is None:
            return "-"
        low, high = self.bounds
        return f"{self.hits / self.n:.3f} [{low:.3f}, {high:.3f}] n={self.n}"


@dataclass(frozen=True, slots=True)
class Rate:
    """`events` in an exposure (link-weeks in units of 10,000); None without exposure."""

    events: int
    exposure: float

    @property
    def value(self) -> float | None:
        """Events per unit of exposure."""
        return self.events / self.exposure if self.exposure > 0 else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Lower and upper 95 % bound."""
        if self.exposure <= 0:
            return None
        interval = garwood(float(self.events), self.exposure)
        return float(interval.lower[0]), float(interval.upper[0])

    def to_json(self) -> dict[str, object]:
        """Return the rate with events, exposure and 95 % bounds; null without exposure."""
        low, high = self.bounds or (None, None)
        return {
            "value": self.value, "events": self.events, "exposure": self.exposure,
            "low": low, "high": high,
        }  # fmt: skip

    def __str__(self) -> str:
        if self.bounds is None:
            return "-"
        low, high = self.bounds
        return f"{self.value:.3g} [{low:.3g}, {high:.3g}] ({self.events} in {self.exposure:.4g})"
