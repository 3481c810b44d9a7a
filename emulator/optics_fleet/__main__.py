"""`python -m emulator.optics_fleet FOLDER ..`: write a simulated corpus of optical modules."""

import argparse
import sys
from pathlib import Path

from emulator.module_kinds import KINDS
from emulator.optic_faults import FAULTS
from emulator.optics_fleet.corpus import Corpus, Order


def main(words: list[str] | None = None) -> int:
    """Write what is asked for; return the exit status."""
    usual = Order()
    parser = argparse.ArgumentParser("python -m emulator.optics_fleet", description=__doc__)
    parser.add_argument("folder", type=Path)
    linked = sorted(name for name, kind in KINDS.items() if kind.gbps and kind.receiver)
    parser.add_argument("--kind", choices=linked, default=usual.kind)
    parser.add_argument("--fault", choices=["", *sorted(FAULTS)], default="", help="none: healthy")
    parser.add_argument("--strength", type=float, default=usual.strength, help="1 to 3")
    parser.add_argument("--days", type=float, default=usual.days)
    parser.add_argument("--step", type=float, default=usual.step, help="seconds between polls")
    parser.add_argument("--modules", type=int, default=usual.modules)
    parser.add_argument("--ill", type=int, default=usual.ill, help="links that have the fault")
    parser.add_argument("--seed", type=int, default=usual.seed)
    given = vars(parser.parse_args(words))
    folder = given.pop("folder")
    try:
        corpus = Corpus(Order(**given))
        corpus.write(folder)
    except (OSError, ValueError) as wrong:
        sys.stderr.write(f"{folder}: {wrong}\n")
        return 1
    ill = len(corpus.truths)
    sys.stdout.write(f"{folder}: {corpus.samples} samples, {ill} things wrong (simulated)\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
