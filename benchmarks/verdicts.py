"""The table of detection quality: the public corpus, replayed and scored by contract 6.

`python -m benchmarks.verdicts [--seed 1] [--only WORD..] [--minutes M] [--errors]`. Each case is
made from its seed, judged with the default settings as `evaluate` does, and thrown away. With
`--minutes` no case is begun later, in an order that mixes them; the table says how many of all it
holds. With `--keep FOLDER` results are kept case by case: a run that was cut short goes on, and
`--shard i/n` shares the cases out among machines or days; the table is of all that is kept.
`--without link_subhealthy optics_degrading` judges again without those detectors, all at once, and
`--ablate` without each layer of the analyzer in turn, and prints what they add. The results are
simulated.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path

from analyzer.judge import detectors
from analyzer.scoring.tables import page
from benchmarks.corpus.cases import cases, write
from benchmarks.kept import Keeper, of_json, shard, to_json
from benchmarks.layers import LAYERS, without
from benchmarks.verdict_tables import added, by_case, errors, summed
from fabrichealth.cli._corpus import Judged, judge

MIXED = 4
"""Seed of the order of cases: a run that is cut short still holds some of each sort."""


def one(name: str, seed: int, leave_out: tuple[str, ...], layer: str = "") -> Judged:
    """Make, judge and forget one case, without some detectors or a whole layer."""
    with tempfile.TemporaryDirectory(prefix="fabrichealth-verdicts-") as folder:
        write(name, Path(folder), seed)
        with without(layer) as silent:
            return judge(Path(folder) / name, leave_out=(*leave_out, *silent))


def kept_name(name: str, seed: int, layer: str) -> str:
    """Return under which name a case is kept."""
    return f"{name}.seed-{seed}" + (f".without-{layer}" if layer else "")


def judged(
    names: Sequence[str],
    seed: int,
    leave_out: tuple[str, ...],
    jobs: int,
    until: float,
    keeper: Keeper | None = None,
    layer: str = "",
) -> Iterator[Judged]:
    """Yield cases as they are done, those kept first; none is begun after `until`."""
    kept = keeper or Keeper(None)
    missing = []
    for name in names:
        found = kept.find(kept_name(name, seed, layer))
        if found is None:
            missing.append(name)
        else:
            yield of_json(found)
    left = iter(missing)
    with ProcessPoolExecutor(jobs) as pool:
        running: set[Future[Judged]] = set()
        while True:
            if time.monotonic() < until:
                for name in islice(left, jobs - len(running)):
                    running.add(pool.submit(one, name, seed, leave_out, layer))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                case = future.result()
                kept.keep(kept_name(case.name, seed, layer), to_json(case))
                found_of = sum(met.told is not None for met in case.matched.met)
                told = f"{found_of} of {len(case.matched.met)}, {len(case.matched.false)} false"
                print(f"{case.name}: {told}", file=sys.stderr, flush=True)
                yield case


def asked_for() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="words of the cases wanted")
    parser.add_argument("--minutes", type=float, default=30.0, help="inf for every case")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="folder of results, case by case")
    parser.add_argument("--shard", type=shard, default=(1, 1), help="i/n: a share of the cases")
    parser.add_argument("--without", nargs="*", default=[], choices=sorted(detectors()))
    parser.add_argument("--ablate", nargs="*", choices=sorted(LAYERS), help="none named: all")
    parser.add_argument("--errors", action="store_true", help="also every miss and false one")
    return parser.parse_args()


def main() -> None:
    """Judge the cases asked for, and print the tables."""
    asked = asked_for()
    known = list(cases())
    names = [name for name in known if not asked.only or any(word in name for word in asked.only)]
    random.Random(MIXED).shuffle(names)
    number, of = asked.shard
    names = names[number - 1 :: of]
    keeper = Keeper(asked.keep)
    began = time.monotonic()
    until = began + asked.minutes * 60.0
    every = list(judged(names, asked.seed, (), asked.jobs, until, keeper))
    whole = summed(every)
    took, passes = time.monotonic() - began, sum(case.passes for case in every)
    print(f"simulated; {len(every)} of {len(known)} cases, seed {asked.seed}, {passes} passes, "
          f"{took:.0f} s with {asked.jobs} processes\n")  # fmt: skip
    print(page(whole) + "\n" + by_case(every))
    if asked.errors:
        print(errors(every))
    same = [case.name for case in every]
    endless = float("inf")
    less = {}
    if asked.without:
        silent = tuple(asked.without)
        again = judged(same, asked.seed, silent, asked.jobs, endless)
        less[", ".join(silent)] = summed(list(again))
    for layer in () if asked.ablate is None else asked.ablate or sorted(LAYERS):
        again = judged(same, asked.seed, (), asked.jobs, endless, keeper, layer)
        less[layer] = summed(list(again))
    if less:
        print(added(whole, less))


if __name__ == "__main__":
    main()
