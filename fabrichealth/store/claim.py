"""Claim: one process writes to a folder, and its lock dies with it."""

import fcntl
import os
from pathlib import Path

from fabrichealth.errors import StoreError


def claimed(folder: Path) -> int:
    """Return the descriptor of the lock file, which dies with the process.

    Raises:
        StoreError: another process has it, or the folder cannot be written.
    """
    path = folder / "lock"
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    except OSError as wrong:
        raise StoreError(f"{path}: cannot be opened ({wrong.strerror}); check the rights") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise StoreError(
            f"{folder}: another process writes to this store; stop it, or open it to read only"
        ) from None
    return file
