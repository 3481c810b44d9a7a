"""`python -m benchmarks [NAME ..]`: every figure, one process each, one after the other."""

import subprocess
import sys
import time

from fabrichealth.plugins import modules, names

ROOM = "benchmarks"


def _wanted(asked: list[str]) -> list[str]:
    """Return the benchmarks asked for, or every one that can be run by itself."""
    if asked:
        return asked
    return [name for name, module in modules(ROOM) if hasattr(module, "main")]


def main() -> int:
    """Run them; return 1 if any failed."""
    unknown = set(sys.argv[1:]) - set(names(ROOM))
    if unknown:
        sys.stderr.write(f"no benchmark {unknown.pop()}; there are {', '.join(names(ROOM))}\n")
        return 2
    failed = 0
    for name in _wanted(sys.argv[1:]):
        began = time.perf_counter()
        print(f"== {name}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"{ROOM}.{name}"], check=False)
        print(f"== {name}: {time.perf_counter() - began:.0f} s\n", flush=True)
        failed += done.returncode != 0
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
