"""Traps: what looks ill and is not, and what a careless reader takes for something else."""

from typing import Any

import numpy as np

from benchmarks.corpus.faults import fall
from benchmarks.corpus.scene import Scene, scene

MINUTE = 60.0


def reboots(technology: str, seed: int) -> Scene:
    """Hosts restart, one announced and two not."""
    made = scene(technology, seed, days=0.6, period=60.0)
    names = sorted({run.far[0] for run in made.hall.runs})
    for name, share, told in zip(names, (0.3, 0.5, 0.7), (True, False, False), strict=False):
        began = made.moment(share)
        made.restart(name, began, 7 * MINUTE)
        if told:
            event = {"at": began, "kind": "boot", "scope": {"device": name}}
            made.events.append(event)
    return made


def rack_reboot(technology: str, seed: int) -> Scene:
    """A rack restarts as a whole, unannounced."""
    made = scene(technology, seed, days=0.6, period=60.0)
    for name in sorted({run.far[0] for run in made.hall.runs if run.rack == "r00"}):
        made.restart(name, made.moment(0.5), 11 * MINUTE)
    return made


def firmware_wave(technology: str, seed: int) -> Scene:
    """Switches get new firmware, one after the other; each is gone for four minutes."""
    made = scene(technology, seed, days=0.6, period=60.0)
    switches = sorted({run.near[0] for run in made.hall.runs})
    for number, name in enumerate(switches):
        began = made.moment(0.4) + number * 40 * MINUTE
        made.events.append({"at": began, "kind": "firmware_upgrade", "scope": {"device": name}})
        made.restart(name, began + MINUTE, 4 * MINUTE)
    return made


def counter_resets(technology: str, seed: int) -> Scene:
    """Somebody clears the counters of some devices; no link falls."""
    made = scene(technology, seed, days=1.0, period=180.0)
    for name in made.hall.devices[::2]:
        poll = made.poll(made.moment(float(made.chance.uniform(0.2, 0.9))))
        for number, end in made.hall.of_device(name):
            made.cables[number].resets.append((end, poll))
    return made


def gaps(technology: str, seed: int) -> Scene:
    """Devices are not read for a quarter of an hour to two hours; nothing says why."""
    made = scene(technology, seed, days=1.0, period=180.0)
    for name in made.hall.devices[::2]:
        began = made.moment(float(made.chance.uniform(0.2, 0.8)))
        on = made.between(began, began + float(made.chance.uniform(15, 120)) * MINUTE)
        for number, end in made.hall.of_device(name):
            made.cables[number].silent[end] = on
    return made


def source_outage(technology: str, seed: int) -> Scene:
    """The agent of one host does not answer for two hours; its links are well."""
    made = scene(technology, seed, days=0.6, period=60.0)
    names = sorted({run.far[0] for run in made.hall.runs})
    made.silent = {name: np.zeros(len(made.at)) for name in names}
    began, ended = made.moment(0.5), made.moment(0.5) + 120 * MINUTE
    on = made.between(began, ended)
    made.silent[names[2]] = on
    for number, end in made.hall.of_device(names[2]):
        made.cables[number].silent[end] = on
    made.truths.append(
        _truth("watch.source_silent", "source", f"host/{names[2]}", began, ended, page=False)
    )
    return made


def hot_days(technology: str, seed: int) -> Scene:
    """The hall swings by 16 kelvin a day, and bias with it."""
    return scene(technology, seed, days=3.0, period=300.0, swing=8.0)


def job_steps(technology: str, seed: int) -> Scene:
    """Traffic goes from nothing to everything and back every few minutes."""
    made = scene(technology, seed, days=1.0, period=180.0)
    steps = np.asarray((np.arange(len(made.at)) // 4 % 2) * 0.95, np.float64)
    for cable in made.cables:
        cable.load = steps
        cable.temperature = cable.temperature + 1.5 * steps
    return made


def disabled(technology: str, seed: int) -> Scene:
    """Ports are disabled, at one end or both, and one is enabled again."""
    made = scene(technology, seed, days=0.6, period=60.0)
    for number, ends in ((3, (0,)), (9, (1,)), (17, (0, 1))):
        cable = made.cables[number]
        stop = made.moment(0.8) if number == 9 else float(made.at[-1]) + 1
        on = made.between(made.moment(0.4), stop)
        for end in ends:
            cable.admin[end] = 1.0 - on
        fall(cable, on)
    return made


def never_up(technology: str, seed: int) -> Scene:
    """Some cables were never plugged at the far side."""
    made = scene(technology, seed, days=0.6, period=60.0)
    for number in (2, 11, 12, 30):
        made.cables[number].up = np.zeros(len(made.at))
    return made


def idle(technology: str, seed: int) -> Scene:
    """Nothing runs for two days."""
    return scene(technology, seed, days=1.5, period=300.0, busy=False)


def one_blip(technology: str, seed: int) -> Scene:
    """Links fall once and are back within a poll, hours apart: no flapping."""
    made = scene(technology, seed, days=0.6, period=60.0)
    for number in made.chance.permutation(len(made.cables))[:6].tolist():
        made.cables[number].falls[made.poll(made.moment(float(made.chance.uniform(0.1, 0.9))))] = 1
    return made


def maintenance(technology: str, seed: int) -> Scene:
    """A rack is worked on, as announced: its links fall again and again."""
    made = scene(technology, seed, days=0.6, period=60.0)
    began, ended = made.moment(0.5), made.moment(0.5) + 90 * MINUTE
    scope = {"rack": "r01"}
    made.events += [
        {"at": began, "kind": "maintenance_start", "scope": scope, "id": "chg-1"},
        {"at": ended, "kind": "maintenance_end", "scope": scope, "id": "chg-1"},
    ]
    for run in made.hall.runs:
        if run.rack == "r01":
            when = began + float(made.chance.uniform(5, 60)) * MINUTE
            fall(made.cables[run.number], made.between(when, when + 12 * MINUTE))
    return made


def wrong_clocks(technology: str, seed: int) -> Scene:
    """Some clocks are minutes off; one link is down in truth."""
    made = scene(technology, seed, days=0.6, period=60.0)
    for name, off in zip(made.hall.devices[::3], (240.0, -180.0, 120.0, -240.0), strict=False):
        made.clocks[name] = off
    return _one_down(made)


def disorder(technology: str, seed: int) -> Scene:
    """Samples come twice, late and out of order; one link is down in truth."""
    made = scene(technology, seed, days=0.6, period=60.0)
    made.spoil = 0.5
    return _one_down(made)


def wrong_cable(technology: str, seed: int) -> Scene:
    """Two cables are swapped against what is written; both work."""
    made = scene(technology, seed, days=1.0, period=180.0)
    runs = made.hall.runs
    one, other = runs[5], runs[9]
    far = {run.near: run.far for run in runs} | {one.near: other.far, other.near: one.far}
    made.heard = far | {there: near for near, there in far.items()}
    began, ended = float(made.at[0]), float(made.at[-1])
    for run in (one, other):
        truth = _truth("watch.data_implausible", "link", run.id, began, ended, page=False)
        made.truths.append(truth)
    return made


def _one_down(made: Scene) -> Scene:
    began = made.moment(0.5)
    run = made.hall.runs[10]
    made.truths.append(made.spoil_one(run, "down", 2, began, began + 90 * MINUTE, 0))
    return made


def _truth(
    kind: str, of: str, name: str, began: float, ended: float, *, page: bool
) -> dict[str, Any]:
    culprit = {"type": of, "id": name}
    return {
        "kind": kind, "culprit": culprit, "from": began, "until": ended, "must_page": page,
        "note": "simulated",
    }  # fmt: skip


TRAPS = {
    "reboots": (reboots, ("roce", "ub")),
    "rack_reboot": (rack_reboot, ("roce", "nvlink")),
    "firmware_wave": (firmware_wave, ("roce", "ndr")),
    "counter_resets": (counter_resets, ("roce", "ndr", "nvlink")),
    "gaps": (gaps, ("roce", "ndr")),
    "source_outage": (source_outage, ("roce",)),
    "hot_days": (hot_days, ("roce", "ndr", "ub", "aec")),
    "job_steps": (job_steps, ("roce", "nvlink")),
    "disabled": (disabled, ("roce", "ndr")),
    "never_up": (never_up, ("roce", "ndr")),
    "idle": (idle, ("roce", "ndr", "ub", "lpo", "dac")),
    "one_blip": (one_blip, ("roce", "ndr")),
    "maintenance": (maintenance, ("roce",)),
    "wrong_clocks": (wrong_clocks, ("roce", "ndr")),
    "disorder": (disorder, ("roce", "ndr")),
    "wrong_cable": (wrong_cable, ("roce", "ndr")),
}
"""Every trap, and on which technologies."""
