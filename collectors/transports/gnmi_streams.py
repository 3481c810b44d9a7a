"""One stream of a gNMI device: what was asked for, and what it told since it was last read.

Newest of each place; a place that the device deletes is gone. Pure: time is an argument.
"""

import asyncio
from dataclasses import dataclass, field

from collectors.protocols.gnmi_paths import Step
from collectors.transports import gnmi_messages
from collectors.transports.gnmi_messages import Notice, Update
from fabrichealth.errors import MalformedReply, SourceUnavailable

MOST_PLACES = 1_000_000
"""Places of one stream that are kept between visits; more is no device."""


@dataclass(frozen=True, slots=True)
class Group:
    """Paths that are asked for together."""

    name: str
    target: str
    paths: tuple[str, ...]
    follows: bool = False
    """Whether its samples follow the visits where these come more often than usual."""


@dataclass(slots=True)
class Heard:
    """What one stream told since it was last asked."""

    updates: dict[tuple[str, tuple[Step, ...]], tuple[float, Update]] = field(default_factory=dict)
    """By target and path: the device's time stamp (0: it gives none), and what stands there."""
    malformed: list[tuple[str, str]] = field(default_factory=list)
    """(path, why) of what cannot be read."""
    arrived: float = 0.0
    """When the newest of it came, in the loop's time."""


@dataclass(slots=True)
class Stream:
    """One group of paths, and the stream that tells of it."""

    group: Group
    interval: float = 0.0
    """Seconds between samples, as asked for last."""
    arrived: float = 0.0
    """When the newest of it came, in the loop's time."""
    heard: Heard = field(default_factory=Heard)
    task: asyncio.Task[None] | None = None
    synced: bool = False
    told: bool = False
    """Whether anything ever came: a device may know the paths and have nothing there."""
    failure: str = ""
    unknown_until: float = 0.0
    """The device does not know the group's paths; it is not asked again before then."""

    def take(self, raw: bytes, now: float) -> None:
        """Take one message that came at `now` (the loop's time); a malformed one is kept as such.

        Raises:
            SourceUnavailable: there are more places than a device has.
        """
        heard = self.heard
        heard.arrived = self.arrived = now
        try:
            notice: Notice = gnmi_messages.notice(raw)
        except MalformedReply as wrong:
            if len(heard.malformed) < gnmi_messages.DEEPEST:
                heard.malformed.append((self.group.name, str(wrong)))
            return
        for path in notice.deleted:
            for place in [key for key in heard.updates if key[1][: len(path)] == path]:
                del heard.updates[place]
        for update in notice.updates:
            heard.updates[update.target, update.path] = notice.at, update
            self.told = True
        for path, why in notice.malformed:
            heard.malformed.append(("".join(f"/{step.name}" for step in path), why))
        self.synced |= notice.synced
        if len(heard.updates) + len(heard.malformed) > MOST_PLACES:
            self.heard = Heard()
            raise SourceUnavailable(f"more than {MOST_PLACES} places; ask for less")
