"""Generates the dashboards' JSON from the boards in the folder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dashboards.board import Board
from dashboards.grafana import dashboard
from dashboards.sources import Influx, Prometheus, Source
from fabrichealth.plugins import constants

FOLDER = Path(__file__).parent

SOURCES: Mapping[str, Source] = {"": Prometheus(), "influxql/": Influx()}
"""Folder of the generated boards -> the kind of data source they ask."""


def boards() -> dict[str, Board]:
    """Return every board in the folder, by file name."""
    return {
        place.partition(".")[0]: board
        for place, board in sorted(constants("dashboards.boards", Board).items())
    }


def files() -> dict[str, str]:
    """Return every generated file's text, by its path below `dashboards/`."""
    every = boards()
    return {
        f"generated/{folder}{name}.json": _text(dashboard(board, every.values(), source))
        for folder, source in SOURCES.items()
        for name, board in every.items()
    }


def _text(plain: dict[str, Any]) -> str:
    return json.dumps(plain, indent=2, sort_keys=True) + "\n"
