"""CMIS lanes: pages 10h and 11h of a bank (OIF-CMIS-05.2, 8.9 and 8.10).

Flags of lanes here are those that hold now; that they stay until they are read is the module's
doing, not its memory's.
"""

from emulator.modules import codings
from emulator.modules.builds import Build
from emulator.modules.flags import by_bound
from emulator.modules.memory import Memory, name_of
from emulator.optics import LOW_POWER, ModuleState

LANES = 8
DEACTIVATED, ACTIVATED = 1, 4
"""Data path states."""
SUCCESS = 1
"""Configuration status."""
SHARED_WAVELENGTHS = 4
"""Wavelengths that share a fibre."""


def encode(memory: Memory, state: ModuleState, build: Build, bank: int) -> int:
    """Write the lanes of a bank; return the bank's flag summary."""
    kind, page = state.built, name_of(0x11, bank)
    span = slice(LANES * bank, LANES * (bank + 1))
    running = state.power_state != LOW_POWER
    host = max(min(kind.host_lanes - LANES * bank, LANES), 0)
    media = len(range(state.lanes)[span])
    _control(memory, build, bank, host, running=running)
    states = bytearray(4)
    for lane in range(host):
        states[lane // 2] |= (ACTIVATED if running else DEACTIVATED) << 4 * (lane % 2)
    memory.put(page, 128, bytes(states))
    memory.put(page, 202, bytes((SUCCESS | SUCCESS << 4,)) * (host // 2))
    memory.put(page, 206, _applied(build, host))
    memory.put(page, 240, _fibres(media, parallel=kind.parallel) * 2)
    if not running:
        return 0
    lit = [not fault for fault in state.tx_fault[span]]
    heard = [not lost for lost in state.los_media[span]] if kind.optical else [True] * media
    # one media lane carries as many host lanes as there are for each
    spread = max(host // max(media, 1), 1)
    memory.set(page, 132, codings.bitmap([on for on in heard for _ in range(spread)][:host]))
    memory.set(page, 133, codings.bitmap(lit))
    memory.set(page, 135, codings.bitmap(state.tx_fault[span]))
    if kind.retimed:
        memory.set(page, 137, codings.bitmap(state.lol_host[span]))
        memory.set(page, 148, codings.bitmap(state.lol_media[span]))
    if kind.optical:
        memory.set(page, 147, codings.bitmap(state.los_media[span]))
        _light(memory, state, build, page, span)
    return 0x01 if any(memory.get(page, 134, 20)) else 0


def _light(memory: Memory, state: ModuleState, build: Build, page: str, span: slice) -> None:
    """Write light and bias of each lane, and which are beyond their limits."""
    kind = state.built
    for at, flags, values, limits in (
        (154, 139, state.tx_dbm[span], kind.tx),
        (186, 149, state.rx_dbm[span], kind.rx),
    ):
        memory.put(page, at, b"".join(map(codings.light, values)))
        memory.put(page, flags, bytes(by_bound(values, limits)))
    if kind.laser is not None:
        bias = state.bias_ma[span]
        steps = [codings.milliamperes(one, build.multiplier) for one in bias]
        memory.put(page, 170, b"".join(steps))
        memory.put(page, 143, bytes(by_bound(bias, kind.bias)))


def _control(memory: Memory, build: Build, bank: int, host: int, *, running: bool) -> None:
    """Write what the host asked for: page 10h."""
    page = name_of(0x10, bank)
    lanes = (1 << host) - 1
    memory.set(page, 128, 0 if running else lanes)  # data paths to be taken down
    memory.put(page, 145, _applied(build, host))


def _applied(build: Build, host: int) -> bytes:
    """Return application, data path and control of each host lane: the first application."""
    if not build.applications:
        return bytes(LANES)
    width = build.applications[0].host_lanes
    return bytes(1 << 4 | lane // width * width << 1 for lane in range(host)).ljust(LANES, b"\0")


def _fibres(media: int, *, parallel: bool) -> bytes:
    """Return wavelength (high nibble) and fibre (low nibble) of each media lane."""
    if parallel:
        found = [1 << 4 | lane + 1 for lane in range(media)]
    else:
        found = [
            lane % SHARED_WAVELENGTHS + 1 << 4 | lane // SHARED_WAVELENGTHS + 1
            for lane in range(media)
        ]
    return bytes(found).ljust(LANES, b"\0")
