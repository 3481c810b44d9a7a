"""`python -m benchmarks.corpus FOLDER --seed N [--only WORD] [--list]`: write the corpus."""

import argparse
import sys
import time
from pathlib import Path

from benchmarks.corpus.cases import cases, write


def main() -> int:
    """Write every case whose name holds one of the words asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="words of the cases wanted")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    asked = parser.parse_args()
    wanted = [one for one in cases() if not asked.only or any(word in one for word in asked.only)]
    if asked.list:
        print("\n".join(wanted))
        return 0
    if asked.folder is None or not wanted:
        parser.error("a FOLDER is needed, and cases that match; --list names them")
    for name in wanted:
        began = time.perf_counter()
        samples = write(name, asked.folder, asked.seed)
        print(f"{name:32s} {samples:>10,d} samples {time.perf_counter() - began:5.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
