"""What every map file is made of: parts that know their keys, and metrics by their names."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from fabrichealth.catalogue import METRICS
from fabrichealth.metric import Metric


class MapPart(BaseModel):
    """A part of a map file; a key that it does not know is an error."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, populate_by_name=True
    )


def _metric(name: object) -> object:
    if isinstance(name, str):
        if name not in METRICS:
            raise ValueError(f"{name!r} is no metric of the catalogue")
        return METRICS[name]
    return name


AnyMetric = Annotated[
    Metric, BeforeValidator(_metric), WithJsonSchema({"type": "string", "pattern": "^fabric_"})
]
"""A metric of the catalogue, written by its exported name."""
