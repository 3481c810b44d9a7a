"""How whole a domain stays when jobs come and go, placed by `place` or as others would.

    python -m benchmarks.placing_policies [--seeds 10] [--jobs 3000]

A domain of 1,024 accelerators on 128 hosts in 16 racks gets the same jobs in the same order, four
times: placed by `place`, into the tightest hole, into the first that fits, and anywhere. Jobs want
1 to 64, stay for times that are log-normal, and come so fast that nine tenths of the domain would
be held if all fitted. One that does not fit is turned away. Counted are the accelerator-hours that
were turned away though enough was free in number, and what jobs of a host and of a rack could not
have of what was free, over time. Simulated.
"""

import argparse
import heapq
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import t as student

from analyzer.evidence.domain.placing import placements
from analyzer.evidence.domain.room import Places, Room

RACKS, HOSTS, EACH = 16, 8, 8
SIZES, COMMON = (1, 2, 4, 8, 16, 32, 64), (0.3, 0.2, 0.2, 0.2, 0.05, 0.03, 0.02)
LOAD = 0.9
SPREAD = 1.2
"""Standard deviation of the logarithm of a job's hours."""

Taken = dict[int, int]
"""Accelerators by tray."""
Policy = Callable[[Room, int, np.random.Generator], Taken]


def domain() -> Room:
    """Return the domain, empty."""
    many = RACKS * HOSTS
    full = np.full(many, EACH)
    return Room(
        "pod",
        tuple(f"h{n:03}" for n in range(many)),
        tuple(f"r{n // HOSTS:02}" for n in range(many)),
        full,
        full.copy(),
        full.copy(),
        np.zeros(many, np.int64),
    )


def by_place(room: Room, job: int, chance: np.random.Generator) -> Taken:
    """Place as the product does."""
    (best,) = placements([room], job, {})
    number = {name: place for place, name in enumerate(room.trays)}
    return {number[share.tray]: share.accelerators for share in best.shares}


def tightest(room: Room, job: int, chance: np.random.Generator) -> Taken:
    """Take the fullest tray that fits, whole ones from the first on."""
    return _taken(room, job, lambda fitting: int(fitting[np.argmin(room.fit[fitting])]))


def first(room: Room, job: int, chance: np.random.Generator) -> Taken:
    """Take the first tray that fits."""
    return _taken(room, job, lambda fitting: int(fitting[0]))


def anywhere(room: Room, job: int, chance: np.random.Generator) -> Taken:
    """Take any tray that fits, any whole ones."""
    return _taken(room, job, lambda fitting: int(chance.choice(fitting)))


def _taken(room: Room, job: int, choose: Callable[[Places], int]) -> Taken:
    if job <= EACH:
        return {choose(np.flatnonzero(room.fit >= job)): job}
    whole = np.flatnonzero(room.fit == EACH)
    found: Taken = {}
    for _ in range(job // EACH):
        tray = choose(whole)
        found[tray] = EACH
        whole = whole[whole != tray]
    return found


POLICIES: dict[str, Policy] = {
    "place": by_place, "tightest": tightest, "first": first, "anywhere": anywhere,
}  # fmt: skip


def lived(policy: Policy, seed: int, jobs: int) -> tuple[float, float, float]:
    """Return shares: hours turned away for want of a place, lost to a host, lost to a rack."""
    chance = np.random.default_rng(seed)
    sizes = chance.choice(SIZES, jobs, p=COMMON)
    hours = chance.lognormal(0.0, SPREAD, jobs)
    wanted = sizes * hours
    between = wanted.mean() / (LOAD * RACKS * HOSTS * EACH)
    comes = np.cumsum(chance.exponential(between, jobs))
    room = domain()
    ends: list[tuple[float, int, Taken]] = []
    refused, seen, host, rack = 0.0, 0, 0.0, 0.0
    own = np.random.default_rng(seed + 1)
    for number in range(jobs):
        now, size = float(comes[number]), int(sizes[number])
        while ends and ends[0][0] <= now:
            for tray, many in heapq.heappop(ends)[2].items():
                room.fit[tray] += many
                room.free[tray] += many
        if now > comes[jobs // 5]:  # after it has filled
            seen += 1
            host += room.lost(EACH) or 0.0
            rack += room.lost(HOSTS * EACH) or 0.0
        if room.placeable(size) < size:
            refused += wanted[number] if int(room.free.sum()) >= size else 0.0
            continue
        taken = policy(room, size, own)
        for tray, many in taken.items():
            room.fit[tray] -= many
            room.free[tray] -= many
        heapq.heappush(ends, (now + float(hours[number]), number, taken))
    return refused / float(wanted.sum()), host / seen, rack / seen


def _told(values: Sequence[float]) -> str:
    """Return a mean with its 95 % bound, in per cent."""
    array = 100 * np.array(values)
    if len(array) < 2:
        return f"{array.mean():.1f}"
    half = float(student.ppf(0.975, len(array) - 1) * array.std(ddof=1) / np.sqrt(len(array)))
    return f"{array.mean():.1f} ± {half:.1f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=3000)
    asked = parser.parse_args()
    print(f"{asked.seeds} runs of {asked.jobs} jobs, per cent, mean and 95 % bound; simulated\n")
    print("| placed | hours turned away for want of a place | lost to a host | lost to a rack |")
    print("|---|---|---|---|")
    for name, policy in POLICIES.items():
        runs = [lived(policy, seed, asked.jobs) for seed in range(asked.seeds)]
        print(f"| {name} | " + " | ".join(map(_told, zip(*runs, strict=True))) + " |", flush=True)


if __name__ == "__main__":
    main()
