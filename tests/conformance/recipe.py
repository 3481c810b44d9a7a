"""A recipe: how a healthy world falls ill in the way that one detector is there for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fabrichealth.events import Event
from fabrichealth.metric import Metric
from tests.conformance.world import World


@dataclass(frozen=True)
class Recipe:
    """`sicken` changes readings from the world's onset on."""

    sicken: Callable[[World], None]
    lasts: float = 90.0
    """Seconds of illness after which the detector must have spoken, whatever the period."""
    least_period: float = 0.0
    """What takes days is not read more often than this, lest a test read for days."""
    most_period: float = float("inf")
    """What is a matter of minutes cannot be told from polls that are further apart than this."""
    passing: bool = False
    """The illness is something that happened: it stays news though nobody is heard any more."""
    healthy: Mapping[Metric, float] = field(default_factory=dict)
    """What readings say when all is well, where `tests.conformance.healthy` does not."""
    events: Sequence[Event] = ()
    """What is known to have been done, in sickness and in health."""
