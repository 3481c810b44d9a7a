"""`run -c site.yaml`: all in one: collect, keep, judge, serve."""

import argparse
from pathlib import Path

from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._daemon import stay


class Run(Command):
    """Collects and judges one site, on one machine."""

    help = "collect, keep, judge and serve, all in one"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the site file."""
        parser.add_argument("-c", "--config", type=Path, required=True, help="site file")

    def run(self, asked: argparse.Namespace) -> int:
        """Run until stopped."""
        stay(asked.config, keep=True, judge=True)
        return WELL
