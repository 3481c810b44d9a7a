"""What a resource's Status says of its readings (DSP0268, Resource.Status)."""

from collections.abc import Mapping
from enum import Enum
from typing import Any


class Presence(Enum):
    """Whether a reading may be believed."""

    UNKNOWN = "unknown"
    """Nothing is said: a null is then simply absent."""
    ENABLED = "enabled"
    """It should give a value: a null is a failure."""
    OFFLINE = "offline"
    """There, but without a reading; what is shown instead is none."""
    GONE = "gone"
    """Not fitted, or switched off by configuration."""


STATES = {
    "Enabled": Presence.ENABLED, "Degraded": Presence.ENABLED, "InTest": Presence.ENABLED,
    "StandbyOffline": Presence.UNKNOWN, "StandbySpare": Presence.UNKNOWN,
    "Quiesced": Presence.UNKNOWN, "Updating": Presence.UNKNOWN,
    "Starting": Presence.OFFLINE, "Deferring": Presence.OFFLINE, "Qualifying": Presence.OFFLINE,
    "UnavailableOffline": Presence.OFFLINE,
    "Absent": Presence.GONE, "Disabled": Presence.GONE,
}  # fmt: skip


def presence(body: Mapping[str, Any]) -> Presence:
    """Return what the Status of a resource, or of one item of it, says."""
    status = body.get("Status")
    said = status.get("State") if isinstance(status, Mapping) else None
    return STATES.get(said, Presence.UNKNOWN) if isinstance(said, str) else Presence.UNKNOWN
