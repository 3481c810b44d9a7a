"""Generates the dashboards' JSON from the boards in the folder."""

import json
from pathlib import Path
from typing import Any

from dashboards.board import Board
from dashboards.grafana import dashboard
from fabrichealth.plugins import constants

FOLDER = Path(__file__).parent


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
        f"generated/{name}.json": _text(dashboard(board, every.values()))
        for name, board in every.items()
    }


def _text(plain: dict[str, Any]) -> str:
    return json.dumps(plain, indent=2, sort_keys=True) + "\n"
