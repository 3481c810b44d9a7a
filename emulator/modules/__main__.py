"""`python -m emulator.modules FOLDER ..`: write images of emulated modules, well or ill."""

import argparse
import sys
from pathlib import Path

import numpy as np

from emulator.module_kinds import KINDS
from emulator.modules.image import image
from emulator.modules.memory import as_json, as_linear
from emulator.optic_faults import FAULTS, Moments, OpticFault
from emulator.optics import ModuleState

SETTLED = 300
"""Steps after which a module is as warm as its air makes it."""
AIR_CELSIUS = 30.0
LOAD = 0.6


def main(words: list[str] | None = None) -> int:
    """Write what is asked for; return the exit status."""
    parser = argparse.ArgumentParser("python -m emulator.modules", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kind", choices=sorted(KINDS), help="without it: one of each")
    parser.add_argument("--fault", choices=sorted(FAULTS), help="without it: well")
    parser.add_argument("--strength", type=float, default=2.0, help="1 to 3")
    parser.add_argument("--lane", type=int, default=1, help="the lane that is hit, from 1")
    parser.add_argument("--days", type=float, default=14.0, help="since the fault began")
    parser.add_argument("--form", choices=("json", "binary"), default="json")
    asked = parser.parse_args(words)
    kind, form, folder = asked.kind, asked.form, asked.folder
    fault = FAULTS[asked.fault] if asked.fault else None
    kinds = (
        [kind]
        if kind
        else [name for name, one in KINDS.items() if fault is None or fault.fits(one)]
    )
    if fault is not None and kind and not fault.fits(KINDS[kind]):
        sys.stderr.write(f"{folder}: {kind} cannot have {asked.fault}; choose another kind\n")
        return 1
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in kinds:
            ill = None if fault is None else fault(0, 0, name, asked.strength, asked.lane - 1)
            pages = image(settled(name, ill, asked.days))
            file = folder / f"{name}.{'json' if form == 'json' else 'bin'}"
            content = as_json(pages).encode() if form == "json" else as_linear(pages, repeat=True)
            file.write_bytes(content)
    except OSError as wrong:
        sys.stderr.write(f"{folder}: cannot be written ({wrong.strerror}); check the path\n")
        return 1
    return 0


def settled(kind: str, fault: OpticFault | None = None, days: float = 14.0) -> ModuleState:
    """Return a module that hears one of its kind, so many days after a fault of it began."""
    built = KINDS[kind]
    module, far = (ModuleState(f"EM{end}", built.lanes, kind=kind) for end in (1, 2))
    if fault is not None:
        elapsed = np.array([days * 86_400.0])
        moments = Moments(elapsed, np.array([LOAD]), np.random.default_rng(1))
        module.stresses[fault] = fault.stress(built, moments).now(built.lanes)
    for _ in range(SETTLED):
        module.shine(AIR_CELSIUS)
        far.shine(AIR_CELSIUS)
    module.receive(far)
    return module


if __name__ == "__main__":
    sys.exit(main())
