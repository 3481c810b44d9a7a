"""Coherent modules: tuning (CMIS 04h, 12h) and performance (C-CMIS 34h, 35h)."""

import math

from emulator.light import ratio
from emulator.modules import codings
from emulator.modules.memory import Memory
from emulator.modules.observed import COHERENT
from emulator.optics import ModuleState

GRID_75_GHZ = 7
CENTER_GHZ = 193_100
CHANNEL = 8
"""Channels of 25 GHz above 193.1 THz."""
FRAMES_PER_SECOND = 68_000.0
SUB_INTERVAL = 0.1
"""Seconds of the shortest interval of which extremes are kept."""


def encode(memory: Memory, state: ModuleState, seconds: float) -> None:
    """Write the four pages; bits, errors and frames are those of so many seconds."""
    memory.set("04", 128, 0x80)  # a grid of 75 GHz
    memory.put("04", 130, bytes(36))
    memory.put("04", 158, codings.s16(-72) + codings.s16(120))
    memory.put("04", 198, codings.s16(-1400) + codings.s16(-600))  # hundredths of dBm
    memory.sum_up("04", 128, 254, 255)
    memory.set("12", 128, GRID_75_GHZ << 4)
    memory.put("12", 136, codings.s16(CHANNEL * 3))
    memory.put("12", 168, codings.u32((CENTER_GHZ + CHANNEL * 3 * 25) * 1000))
    memory.put("12", 200, codings.s16(state.tx_dbm[0] * 100))
    _corrected(memory, state, seconds)
    _link(memory, state)


def _corrected(memory: Memory, state: ModuleState, seconds: float) -> None:
    """Write what FEC did: page 34h."""
    bits = state.built.line_gbps * 1e9
    wrong = bits * state.ber_media[0]
    sub = SUB_INTERVAL
    counts = (bits * seconds, bits * sub, wrong * seconds, wrong * sub * 0.97, wrong * sub * 1.03)
    for number, count in enumerate(counts):
        memory.put("34", 128 + 8 * number, codings.u64(count))
    frames = (FRAMES_PER_SECOND * seconds, FRAMES_PER_SECOND * sub, 0.0, 0.0, 0.0)
    for number, count in enumerate(frames):
        memory.put("34", 168 + 4 * number, codings.u32(count))


def _link(memory: Memory, state: ModuleState) -> None:
    """Write what the receiver finds of the fibre: page 35h, each as average, least and most."""
    snr = state.snr_db[0]
    tx, rx = state.tx_dbm[0] * 100, state.rx_dbm[0] * 100
    evm = 65535 / math.sqrt(float(ratio(snr)))
    memory.put("35", 128, codings.s32(COHERENT[134]) * 3)
    rows = (
        (140, codings.u16, COHERENT[136] * 100),
        (146, codings.u16, COHERENT[137] * 100),
        (152, codings.u16, COHERENT[138] * 10),
        (158, codings.u16, COHERENT[139] * 10),
        (164, codings.u16, snr * 10),
        (170, codings.s16, COHERENT[141]),
        (176, codings.u16, evm),
        (182, codings.s16, tx),
        (188, codings.s16, rx),
        (194, codings.s16, rx),
        (200, codings.u16, COHERENT[146]),
        (206, codings.u16, snr * 10),
    )
    for at, coding, value in rows:
        memory.put("35", at, coding(value) * 3)
