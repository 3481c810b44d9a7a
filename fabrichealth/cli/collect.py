"""`collect -c site.yaml [--shard i/n]`: an exporting daemon, without store or judgement."""

import argparse
from pathlib import Path

from collectors.sharding import Shard
from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._daemon import stay
from fabrichealth.errors import UsageError


class Collect(Command):
    """Polls and exports; small enough for every host."""

    help = "poll and export only: a daemon for every host"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the site file and the share of its targets."""
        parser.add_argument("-c", "--config", type=Path, required=True, help="site file")
        parser.add_argument(
            "--shard", default="1/1", metavar="I/N", help="read share I (1..N) of the targets"
        )

    def run(self, asked: argparse.Namespace) -> int:
        """Run until stopped."""
        try:
            shard = Shard.parse(asked.shard)
        except ValueError as wrong:
            raise UsageError(f"--shard {wrong}") from None
        stay(asked.config, keep=False, judge=False, shard=shard)
        return WELL
