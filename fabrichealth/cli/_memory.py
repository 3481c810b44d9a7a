"""What sources and the inventory must know after a restart: one JSON file under `state:`."""

import json
import logging
from pathlib import Path
from typing import Any

log = logging.getLogger("collecting")


def read(path: Path) -> dict[str, Any]:
    """Return what was remembered before the last restart; nothing if it cannot be read."""
    try:
        memory = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return memory if isinstance(memory, dict) else {}


def write(memory: dict[str, Any], path: Path) -> None:
    """Replace the file; if that fails, what was remembered before stays, and it is told."""
    draft = path.with_suffix(".draft")
    try:
        draft.write_text(json.dumps(memory), encoding="utf-8")
        draft.replace(path)
    except OSError as wrong:
        log.error("%s: cannot be written (%s)", draft, wrong.strerror)
