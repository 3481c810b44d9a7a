"""Settings: strict models whose durations and sizes are written with their unit.

A section of the site file is a `Settings` model. Keys never end in a unit of time: a
`Duration` reads `200ms 10s 5m 24h 14d` and holds seconds, a `Size` reads `20GiB` and holds
bytes.
"""

import re
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_SECONDS = {
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "w": 604800.0,
    "y": 31_536_000.0,
}
_BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def seconds_of(text: object) -> float:
    """Return seconds for `10s`, `5m`, `1.5h`; a bare number is refused but for 0.

    Raises:
        ValueError: not a duration; the message shows the form.
    """
    if isinstance(text, float):  # a default of ours, in seconds already
        return text
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d|w|y)", str(text).strip())
    if found:
        return float(found[1]) * _SECONDS[found[2]]
    if str(text).strip() == "0":
        return 0.0
    raise ValueError(f"{text!r} is not a duration; write 200ms, 10s, 5m, 24h or 14d")


def bytes_of(text: object) -> int:
    """Return bytes for `20GiB`, `512MiB`.

    Raises:
        ValueError: not a size; the message shows the form.
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(B|KiB|MiB|GiB|TiB)", str(text).strip())
    if not found:
        raise ValueError(f"{text!r} is not a size; write 512MiB or 20GiB")
    return int(float(found[1]) * _BYTES[found[2]])


Duration = Annotated[float, BeforeValidator(seconds_of), Field(ge=0)]
Size = Annotated[int, BeforeValidator(bytes_of), Field(ge=0)]


def seconds(number: float) -> float:
    """Return a default for a `Duration`, in seconds."""
    return float(number)


class Settings(BaseModel):
    """One section of the site file; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)
