"""Image: the whole memory of a module of any kind, as it is now."""

from emulator.modules import cmis, diagnostics, elsfp, sff8472, sff8636
from emulator.modules.builds import BUILDS, ELSFP, QSFP28, SFP
from emulator.modules.memory import Memory
from emulator.modules.vdm import Observed
from emulator.optics import ModuleState


def memory(
    state: ModuleState,
    *,
    selector: int = diagnostics.SNR,
    observed: Observed | None = None,
    seconds: float = 1.0,
    calibration: sff8472.Calibration | None = None,
) -> Memory:
    """Return the memory of a module.

    Args:
        state: The module.
        selector: What CMIS page 14h shows.
        observed: What VDM of bank 0 shows; by default what is measured now.
        seconds: For how long diagnostics have counted.
        calibration: Of an SFP that leaves it to its reader.
    """
    found = Memory()
    identifier = BUILDS[state.kind].identifier
    if identifier == SFP:
        sff8472.encode(found, state, calibration)
    elif identifier == QSFP28:
        sff8636.encode(found, state)
    elif identifier == ELSFP:
        elsfp.encode(found, state)
    else:
        cmis.encode(found, state, selector, observed, seconds)
    return found


def image(state: ModuleState) -> dict[str, bytes]:
    """Return the pages of a module by name: those that it has, no others."""
    return memory(state).image()
