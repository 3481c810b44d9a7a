"""Command: what a file in this folder must hold."""

import argparse
from abc import ABC, abstractmethod
from typing import ClassVar

WELL, AGAINST, USAGE = 0, 1, 2
"""Exit status: well; a verdict against the subject; wrong usage."""


class Command(ABC):
    """One command of `fabrichealth`."""

    help: ClassVar[str]

    @abstractmethod
    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare options and arguments."""

    @abstractmethod
    def run(self, asked: argparse.Namespace) -> int:
        """Do it; return the exit status.

        Raises:
            FabricHealthError: told as one line on stderr, exit status 1 (2 for `UsageError`).
        """
