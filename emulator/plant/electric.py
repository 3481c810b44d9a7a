"""Electric: racks on two feeds of three phases, supplies, breakers with a memory, meters, caps."""

import math
from dataclasses import dataclass, field

VOLTS = 230.0
PHASES = 3
BREAKER_SECONDS = 600.0
"""Time constant of a breaker's heat."""
SHED = 0.25
"""Share of a rack's power by which a cap may slow its accelerators."""


@dataclass
class Feed:
    """One feed with its breaker and its meter."""

    name: str
    breaker: float = 63.0
    """Amperes a phase."""
    volts: list[float] = field(default_factory=lambda: [VOLTS] * PHASES)
    spread: list[float] = field(default_factory=lambda: [1.0] * PHASES)
    """How the load is spread over phases; 1.0 each is even."""
    power_factor: float = 0.97
    amperes: list[float] = field(default_factory=lambda: [0.0] * PHASES)
    watt_hours: float = 0.0
    heat: float = 0.0
    """Of the breaker; it trips at 1."""
    closed: bool = True
    meter: float = 1.0
    """What the meter shows of the power, over the truth."""

    @property
    def alive(self) -> bool:
        """Whether it carries anything."""
        return self.closed and any(one > 0.5 * VOLTS for one in self.volts)

    @property
    def watts(self) -> float:
        """True power."""
        return self.power_factor * sum(
            volts * amperes for volts, amperes in zip(self.volts, self.amperes, strict=True)
        )

    @property
    def shown_volts(self) -> list[float]:
        """What its meter sees behind the breaker."""
        return list(self.volts) if self.closed else [0.0] * PHASES

    def carry(self, watts: float, seconds: float) -> None:
        """Carry so many watts for so long; the breaker remembers, and may trip."""
        total = sum(self.spread)
        phases = enumerate(self.spread)
        self.amperes = [
            watts * share / total / (self.volts[n] * self.power_factor)
            if self.alive and self.volts[n] > 1.0 else 0.0
            for n, share in phases
        ]  # fmt: skip
        self.watt_hours += self.watts * seconds / 3600.0
        load = max(self.amperes) / self.breaker
        kept = math.exp(-seconds / BREAKER_SECONDS)
        self.heat = load**2 + (self.heat - load**2) * kept
        if self.heat >= 1.0:
            self.closed = False


@dataclass
class Supply:
    """One power supply; odd ones hang on the first feed, even ones on the second."""

    name: str
    healthy: bool = True
    input: float = 0.0
    output: float = 0.0


@dataclass
class RackPower:
    """The power of one rack."""

    name: str
    feeds: tuple[Feed, Feed]
    supplies: list[Supply] = field(
        default_factory=lambda: [Supply(f"{number}") for number in range(1, 7)]
    )
    limit: float = 130_000.0
    efficiency: float = 0.96
    watts: float = 0.0
    """What its supplies draw."""
    slowed: float = 0.0
    """Share by which its accelerators are slowed to stay below the limit."""

    @property
    def dark(self) -> bool:
        """Whether nothing feeds it."""
        return not any(feed.alive for feed in self.feeds)

    def advance(self, seconds: float, wanted: float) -> None:
        """Let time pass with so many watts wanted by what it holds; `slowed` says what it gets."""
        most = self.limit * self.efficiency
        self.slowed = min(max(1.0 - most / wanted, 0.0), SHED) if wanted > 0 else 0.0
        given = wanted * (1.0 - self.slowed)
        able = [
            one
            for number, one in enumerate(self.supplies)
            if one.healthy and self.feeds[number % 2].alive
        ]
        for one in self.supplies:
            one.output = given / len(able) if one in able else 0.0
            one.input = one.output / self.efficiency
        self.watts = sum(one.input for one in self.supplies)
        for number, feed in enumerate(self.feeds):
            feed.carry(sum(one.input for one in self.supplies[number::2]), seconds)
