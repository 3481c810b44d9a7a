"""`analyze -c site.yaml [--domains a,b]`: a judging daemon on a store that collectors write to."""

import argparse
from pathlib import Path

from fabrichealth.cli._command import WELL, Command
from fabrichealth.cli._daemon import stay
from fabrichealth.errors import UsageError


class Analyze(Command):
    """Judges what others collect; needs a store on a server."""

    help = "judge only: a daemon beside collectors that share a store"

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the site file and the share of the domains."""
        parser.add_argument("-c", "--config", type=Path, required=True, help="site file")
        parser.add_argument(
            "--domains",
            default="",
            metavar="A,B",
            help="judge these only; what belongs to no domain is the domain `fabric`",
        )

    def run(self, asked: argparse.Namespace) -> int:
        """Run until stopped."""
        names = tuple(dict.fromkeys(filter(None, map(str.strip, asked.domains.split(",")))))
        if asked.domains and not names:
            raise UsageError(f"--domains {asked.domains!r}: name domains, such as pod-a,fabric")
        stay(asked.config, keep=True, judge=True, polls=False, domains=names)
        return WELL
