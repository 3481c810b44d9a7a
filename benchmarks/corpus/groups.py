"""Groups: one cause, many links: a lot, a trunk, a card, a switch, a rack, an NVLink."""

from typing import Any

from benchmarks.corpus.hall import Run
from benchmarks.corpus.scene import Scene, scene

OF_A_LOT = 9
LATER = 1800.0
"""A host or rack that is dark may be restarting; beyond this it is down."""


def lot(technology: str, seed: int) -> Scene:
    """Processors in modules of one lot get noisy, one after the other."""
    made = scene(technology, seed, days=3.0, period=300.0, hosts=12)
    ends = [(run, end) for run in made.hall.runs for end in (0, 1)]
    bad = ends[0][0].lots[0]
    mine = [(run, end) for run, end in ends if run.lots[end] == bad]
    chosen: list[tuple[Run, int]] = []
    seen: set[int] = set()
    for place in made.chance.permutation(len(mine)).tolist():
        run, end = mine[place]
        if run.number not in seen and len(chosen) < OF_A_LOT:
            chosen.append((run, end))
            seen.add(run.number)
    ill = []
    for run, end in chosen:
        began = made.moment(float(made.chance.uniform(0.25, 0.5)))
        ill.append(made.spoil_one(run, "signal_processor", 1, began, float(made.at[-1]), end))
    culprit = {"type": "lot", "id": f"Lumen/L400/{bad}"}
    _together(made, "parts.bad_batch", culprit, ill, "one lot of modules gets noisy")
    return made


def bundle(technology: str, seed: int) -> Scene:
    """A trunk of eight cables is bent."""
    made = scene(technology, seed, days=1.5, period=300.0, hosts=16)
    runs = [run for run in made.hall.runs if run.bundle == "mpo-1-0"]
    culprit = {"type": "bundle", "id": "mpo-1-0"}
    _spoilt(made, runs, "bend", 2, culprit, "a trunk is bent")
    return made


def card(technology: str, seed: int) -> Scene:
    """The electrical side of one line card is ill."""
    made = scene(technology, seed, days=1.5, period=300.0, hosts=16)
    runs = [run for run in made.hall.runs if run.card == "leaf-2/card-1"]
    culprit = {"type": "card", "id": "leaf-2/card-1"}
    _spoilt(made, runs, "host_electrical", 2, culprit, "one line card")
    return made


def switch(technology: str, seed: int) -> Scene:
    """A switch goes dark and stays so for two hours."""
    made = scene(technology, seed, days=0.6, period=60.0)
    began, ended = made.moment(0.5), made.moment(0.5) + 7200.0
    made.restart("leaf-1", began, ended - began)
    _device(made, {"type": "device", "id": "leaf-1"}, ["leaf-1"], began, ended, began)
    return made


def host(technology: str, seed: int) -> Scene:
    """A host goes dark without a word and stays so for two hours."""
    made = scene(technology, seed, days=0.6, period=60.0)
    name = made.hall.runs[8].far[0]
    began, ended = made.moment(0.5), made.moment(0.5) + 7200.0
    made.restart(name, began, ended - began)
    _device(made, {"type": "device", "id": name}, [name], began, ended, began + LATER)
    return made


def rack(technology: str, seed: int) -> Scene:
    """A rack loses its power: four hosts are dark at once, for two hours."""
    made = scene(technology, seed, days=0.6, period=60.0)
    names = sorted({run.far[0] for run in made.hall.runs if run.rack == "r01"})
    began, ended = made.moment(0.5), made.moment(0.5) + 7200.0
    for name in names:
        made.restart(name, began, ended - began)
    _device(made, {"type": "rack", "id": "r01"}, names, began, ended, began + LATER)
    return made


def chain(technology: str, seed: int) -> Scene:
    """One NVLink retrains for half a day; then accelerators all over the pod report errors."""
    made = scene(technology, seed, days=0.6, period=60.0)
    run = made.hall.runs[13]
    truth = made.spoil_one(run, "copper", 3, made.moment(0.3), float(made.at[-1]), 0)
    late = made.between(made.moment(0.8), float(made.at[-1]))
    npus = sorted({one.far[0] for one in made.hall.runs})
    for name in npus:
        came = made.chance.poisson(0.02, len(made.at)) * late
        made.codes[name] = ("xid:149", came * 1.0)
    truth["victims"] = [{"type": "device", "id": name} for name in npus]
    truth["must_page"] = True
    made.truths.append(truth)
    return made


def _spoilt(
    made: Scene, runs: list[Run], fault: str, strength: int, culprit: dict[str, Any], note: str
) -> None:
    """Give many links the same fault within a minute."""
    began, ended = made.moment(0.4), float(made.at[-1])
    ill = [made.spoil_one(run, fault, strength, began, ended, 0) for run in runs]
    _together(made, "parts.shared_component", culprit, ill, note)


def _together(
    made: Scene, kind: str, culprit: dict[str, Any], ill: list[dict[str, Any]], note: str
) -> None:
    """Keep one truth that stands for many; `evident` once three of them are."""
    evident = sorted(one.get("evident", one["from"]) for one in ill)
    made.truths.append(
        {
            "kind": kind,
            "culprit": culprit,
            "victims": [{"type": "link", "id": one["culprit"]["id"]} for one in ill],
            "from": min(one["from"] for one in ill),
            "until": max(one["until"] for one in ill),
            "evident": evident[min(2, len(evident) - 1)],
            "must_page": kind == "parts.shared_component" and any(o["must_page"] for o in ill),
            "note": f"{note}, simulated",
        }
    )


def _device(
    made: Scene, culprit: dict[str, Any], names: list[str], began: float, ended: float,
    evident: float,
) -> None:  # fmt: skip
    links = [run.id for run in made.hall.runs if run.near[0] in names or run.far[0] in names]
    made.truths.append(
        {
            "kind": "device.down",
            "culprit": culprit,
            "victims": [{"type": "link", "id": link} for link in links]
            + [{"type": "device", "id": name} for name in names if name != culprit["id"]],
            "from": began,
            "until": ended,
            "evident": evident,
            "must_page": True,
            "note": "dark, simulated",
        }
    )


GROUPS = {
    "lot": (lot, ("roce", "ndr")),
    "bundle": (bundle, ("roce", "ndr", "ub")),
    "card": (card, ("roce", "ndr")),
    "switch": (switch, ("roce", "ndr", "nvlink")),
    "host": (host, ("roce", "ndr")),
    "rack": (rack, ("roce", "ub")),
    "chain": (chain, ("nvlink",)),
}
"""What is shared, and on which technologies."""
