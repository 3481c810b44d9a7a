"""`fabrichealth COMMAND`: finds the command by its file's name and runs it.

A command of two words is written with a hyphen, its file with an underscore.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from fabrichealth import __version__
from fabrichealth.cli._command import AGAINST, USAGE, Command
from fabrichealth.errors import FabricHealthError, UsageError
from fabrichealth.plugins import item, names

COMMANDS = "fabrichealth.cli"


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong with a call in one line."""

    def error(self, message: str) -> NoReturn:
        """End with exit status 2."""
        self.exit(USAGE, f"{self.prog}: {message}; {self.prog} --help says how\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = next((word for word in words if not word.startswith("-")), "").replace("-", "_")
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s"
    )
    parser = OneLineParser(
        prog="fabrichealth", description="Fabric and link health telemetry for AI supernodes."
    )
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    known = names(COMMANDS)
    # only the command asked for is imported: a host's daemon stays small
    for name in [command] if command in known else known:
        verb = item(COMMANDS, name, Command)()
        word = name.replace("_", "-")
        verb.arguments(verbs.add_parser(word, help=verb.help, description=verb.help))
    asked = parser.parse_args(words)
    try:
        return _flushed(item(COMMANDS, asked.command.replace("-", "_"), Command)().run(asked))
    except UsageError as wrong:
        print(f"fabrichealth: {wrong}", file=sys.stderr)  # noqa: T201 - the terminal is the point
        return USAGE
    except FabricHealthError as wrong:
        print(f"fabrichealth: {wrong}", file=sys.stderr)  # noqa: T201
        return AGAINST
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return AGAINST
    except KeyboardInterrupt:
        return AGAINST


def _flushed(status: int) -> int:
    """Return the status; a reader of ours that has gone is noticed here, not at exit."""
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
