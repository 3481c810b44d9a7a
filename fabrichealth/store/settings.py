"""Settings of the embedded store: the site file's `store` section."""

from typing import Literal

from pydantic import ConfigDict, Field

from fabrichealth.config import StoreSection
from fabrichealth.settings import Duration, Settings, Size, seconds

DAY = 86_400.0


class Retention(Settings):
    """How long each tier is kept; 0 keeps it until the space is needed."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=True, populate_by_name=True
    )

    raw: Duration = seconds(DAY)
    """Readings as they came; older windows are served from the tiers below."""

    one_minute: Duration = Field(default=seconds(14 * DAY), alias="1m")
    """One value a minute: the last of a counter, the mean of a gauge."""

    ten_minutes: Duration = Field(default=seconds(365 * DAY), alias="10m")
    """One value every ten minutes."""


class StoreSettings(StoreSection):
    """Store section of the site file, for the store in files of our own."""

    kind: Literal["embedded"] = "embedded"

    retention: Retention = Retention()

    max_bytes: Size = 20 * 2**30
    """Beyond this the oldest readings go before their time, raw ones first; 0 sets no bound."""
