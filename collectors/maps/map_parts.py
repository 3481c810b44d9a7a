"""What every map file is made of: parts that know their keys, and metrics by their names."""

from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from fabrichealth.catalogue import METRICS
from fabrichealth.metric import Metric


class MapPart(BaseModel):
    """A part of a map file; a key that it does not know is an error."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, populate_by_name=True
    )

    @model_validator(mode="before")
    @classmethod
    def _numbers(cls, given: Any) -> Any:
        """Refuse `true` where a number stands: Python would count it as 1."""
        if isinstance(given, Mapping):
            flags = {
                one.alias or name
                for name, one in cls.model_fields.items()
                if bool in (one.annotation, *get_args(one.annotation))
            }
            for key, value in given.items():
                if isinstance(value, bool) and key not in flags:
                    raise PydanticCustomError("flag", f"{key}: {str(value).lower()} is no number")
        return given


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
