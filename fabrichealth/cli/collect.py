"""`collect -c site.yaml`: an exporting daemon, without store or judgement."""

import argparse
from pathlib import Path

from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._daemon import stay


class Collect(Command):
    """Polls and exports; small enough for every host."""

    help = "poll and export only: a daemon for every host"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the site file."""
        parser.add_argument("-c", "--config", type=Path, required=True, help="site file")

    def run(self, asked: argparse.Namespace) -> int:
        """Run until stopped."""
        stay(asked.config, keep=False, judge=False)
        return WELL
