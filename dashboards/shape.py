"""Shape: whether a file is a board of Grafana's at all, as far as anybody here looks at it.

Names and types are those of Grafana's dashboard JSON (schema version 42); what is not named here is
not looked at and may be anything.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class _Place(_Part):
    x: int | None = None
    y: int | None = None
    w: int | None = None
    h: int | None = None


class _Target(_Part):
    refId: str | None = None  # noqa: N815 - Grafana's name
    expr: str = ""


class _Step(_Part):
    color: str | None = None
    value: float | None = None


class _Thresholds(_Part):
    steps: list[_Step] | None = None


class _Defaults(_Part):
    thresholds: _Thresholds | None = None


class _Fields(_Part):
    defaults: _Defaults | None = None


class _Panel(_Part):
    id: int | None = None
    title: str = ""
    gridPos: _Place | None = None  # noqa: N815 - Grafana's name
    targets: list[_Target] | None = None
    fieldConfig: _Fields | None = None  # noqa: N815 - Grafana's name
    panels: list["_Panel"] | None = None


class _Variable(_Part):
    name: str
    query: str | dict[str, Any] | None = None


class _Templating(_Part):
    every: list[_Variable] | None = Field(None, alias="list")


class _Board(_Part):
    panels: list[_Panel] | None = None
    templating: _Templating | None = None


def misshapen(board: Mapping[str, Any]) -> Iterator[str]:
    """Yield one line for each part that is not what Grafana has there."""
    try:
        _Board.model_validate(board, strict=True)
    except ValidationError as wrong:
        for one in wrong.errors(include_url=False, include_input=False):
            where = ".".join(str(step) for step in one["loc"])
            yield f"{where}: {one['msg']}"
