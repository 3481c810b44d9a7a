"""What the multivariate screen adds over the physics, link by link, on the public corpus.

`python -m benchmarks.screening [--cases N] [--seed 1] [--only WORD..]`. At a few moments of each
case every link is ill or well by its truth; the physics says so (a detector that rests on limits,
forecasts or light), the screen says so, or both. Counted are link-moments: recall over
links that are ill, and what share of those accused is. Truths that a moment lies just after are
left out. Simulated.
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from analyzer.evidence.parts.illness import illness
from analyzer.evidence.screen import features, odd
from analyzer.incidents.claims import lift
from analyzer.judge import detectors
from analyzer.scoring.bounds import Share
from analyzer.scoring.tables import cell, table
from analyzer.viewing import Viewing
from benchmarks.corpus.cases import cases, write
from benchmarks.layers import LAYERS
from benchmarks.verdicts import MIXED
from fabrichealth.cli._corpus import TOPOLOGY, TRUTH, read_truths
from fabrichealth.history import read as read_history
from fabrichealth.store.embedded import EmbeddedStore
from fabrichealth.topology import read as read_topology

MOMENTS = (0.3, 0.5, 0.7, 0.95)
"""Shares of a case at which links are looked at."""

SETTLED = 3600.0
"""A truth younger than this may not show yet."""

JUDGE = "modules_odd"
"""The detector that screens."""

Verdicts = Counter[tuple[bool, bool, bool]]
"""How many link-moments were (ill, ill by the physics, odd by the screen)."""


def one(name: str, seed: int, doubt: float) -> Verdicts:
    """Look at one case at a few moments."""
    counted: Verdicts = Counter()
    with tempfile.TemporaryDirectory(prefix="fabrichealth-screening-") as place:
        folder = Path(place)
        write(name, folder, seed)
        folder /= name
        store = EmbeddedStore.open(folder / "store")
        read_history([folder / "history.jsonl.gz"], store)
        topology, wrong = read_topology(folder / TOPOLOGY), read_truths(folder / TRUTH)
        judges = {name: detectors()[name] for name in (JUDGE, *LAYERS["physics"].detectors)}
        held = store.span()
        assert held is not None
        for share in MOMENTS:
            now = held[0] + share * (held[1] - held[0])
            young, ill = set[str](), set[str]()
            for truth in wrong:
                links = {place for place in (truth.culprit, *truth.victims) if "--" in place}
                if truth.due + SETTLED <= now < truth.ended:
                    ill |= links
                elif truth.began <= now < truth.ended + SETTLED:
                    young |= links
            viewing = Viewing(store, judges)
            viewing.advance(now)
            told = {
                lift(finding, topology).id
                for name in LAYERS["physics"].detectors
                for finding in judges[name].judge(viewing.view(judges[name], topology, [], []))
            }
            view = viewing.view(judges[JUDGE], topology, [], [])
            seen = illness(view)
            far = odd(features(view, seen.known, seen.own), seen.own.stratum, doubt)
            strange = {seen.own.links[one.unit // 2].id for one in far}
            for link in topology.links:
                if link not in young:
                    counted[link in ill, link in told, link in strange] += 1
        store.close()
    return counted


ACCUSING: dict[str, Callable[[bool, bool], bool]] = {
    "physics": lambda physics, screen: physics,
    "screen": lambda physics, screen: screen,
    "either": lambda physics, screen: physics or screen,
}


def rows(counted: Verdicts) -> Iterator[tuple[str, str, str]]:
    """Yield recall and precision of the physics, of the screen, and of either."""
    every = sum(n for (ill, _, _), n in counted.items() if ill)
    for name, accuses in ACCUSING.items():
        hits = sum(n for (ill, *by), n in counted.items() if ill and accuses(by[0], by[1]))
        accused = sum(n for (_, *by), n in counted.items() if accuses(by[0], by[1]))
        yield name, cell(Share(hits, every)), cell(Share(hits, accused))


def main() -> None:
    """Look at the cases asked for, and print what each way accuses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=12)
    parser.add_argument("--only", nargs="*", default=[], help="words of the cases wanted")
    parser.add_argument("--doubt", type=float, default=0.01)
    asked = parser.parse_args()
    names = [one for one in cases() if not asked.only or any(word in one for word in asked.only)]
    random.Random(MIXED).shuffle(names)
    counted: Verdicts = Counter()
    for name in names[: asked.cases]:
        found = one(name, asked.seed, asked.doubt)
        counted += found
        alone = sum(n for (ill, physics, screen), n in found.items() if screen and not physics)
        print(f"{name}: {sum(found.values())} link-moments, {alone} odd by the screen alone")
    print(f"simulated: {min(len(names), asked.cases)} cases, {sum(counted.values())} link-moments")
    print(table(("accused by", "ill links accused", "accused links ill"), rows(counted)))


if __name__ == "__main__":
    main()
