"""Generates the dashboards' JSON from the boards in the folder."""

import json
from pathlib import Path

from dashboards.board import Board
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
    return {
        f"generated/{name}.json": json.dumps(board.to_json(), indent=2, sort_keys=True) + "\n"
        for name, board in boards().items()
    }
