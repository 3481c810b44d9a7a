"""What lies in this checkout, as git knows it."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PACKAGES = ("fabrichealth", "collectors", "analyzer", "dashboards", "alerts", "emulator")


@cache
def tracked(*under: str) -> tuple[Path, ...]:
    """Return the files that git tracks, or those below some folders; skips outside a clone."""
    try:
        told = subprocess.run(
            ["git", "ls-files", "-z", "--", *under], cwd=ROOT, capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as wrong:
        pytest.skip(f"not a git checkout: {wrong}", allow_module_level=True)
    files = (ROOT / name for name in told.stdout.decode().split("\0") if name)
    return tuple(file for file in files if file.exists())


def modules(*under: str) -> list[Path]:
    """Return the Python files below some folders."""
    return [file for file in tracked(*under) if file.suffix == ".py"]


def named(file: Path) -> str:
    """Return a file's name from the root of the checkout."""
    return file.relative_to(ROOT).as_posix()
