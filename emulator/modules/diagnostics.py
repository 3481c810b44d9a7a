"""Diagnostics: CMIS pages 13h and 14h, where a selector says what bytes 192 to 255 mean.

OIF-CMIS-05.2 sections 8.12 and 8.13. Signal-to-noise ratios and counters are little-endian here,
error rates are not.
"""

from collections.abc import Callable, Sequence

from emulator.modules import codings
from emulator.modules.memory import Memory, name_of
from emulator.optics import ModuleState

BER, HOST_1, HOST_5, MEDIA_1, MEDIA_5, SNR = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06
"""Selectors; 11h to 15h are the gated ones of 01h to 05h."""
GATED = 0x10
LANES = 8


def encode(
    memory: Memory,
    state: ModuleState,
    selector: int,
    *,
    media: bool,
    bank: int = 0,
    seconds: float = 1.0,
) -> None:
    """Write what can be measured, and what the selector asks for.

    Args:
        memory: Where to.
        state: The module.
        selector: What is chosen (14h:128).
        media: Whether the media side is measured beside the host's.
        bank: The bank of eight lanes.
        seconds: For how long bits and errors were counted.
    """
    capable, chosen = name_of(0x13, bank), name_of(0x14, bank)
    memory.set(capable, 128, 0x0F)  # loopback on either side, in either direction
    memory.set(capable, 130, 0x13 | (0x20 if media else 0))
    memory.set(chosen, 128, selector)
    memory.put(chosen, 192, content(state, selector, media=media, bank=bank, seconds=seconds))


def content(
    state: ModuleState, selector: int, *, media: bool, bank: int = 0, seconds: float = 1.0
) -> bytes:
    """Return the 64 bytes that a selector asks for; zeros for one that is not known."""
    host_ber, media_ber = _bank(state.ber_host, bank), _bank(state.ber_media, bank)
    if not media:
        media_ber = []
    if selector == SNR:
        host = _row(_bank(state.snr_host_db, bank), _snr)
        far = _row(_bank(state.snr_db, bank) if media else [], _snr)
        return bytes(16) + host + bytes(16) + far
    kind = selector & ~GATED
    if kind == BER:
        return _row(host_ber, codings.f16) + _row(media_ber, codings.f16) + bytes(32)
    counted = {
        HOST_1: host_ber[:4], HOST_5: host_ber[4:], MEDIA_1: media_ber[:4], MEDIA_5: media_ber[4:]
    }  # fmt: skip
    bits = state.built.line_gbps * 1e9 / max(state.lanes, 1) * seconds
    pairs = [(rate * bits, bits) for rate in counted.get(kind, [])]
    return b"".join(_u64(errors) + _u64(total) for errors, total in pairs).ljust(64, b"\0")


def _bank(values: Sequence[float], bank: int) -> list[float]:
    return list(values[LANES * bank : LANES * (bank + 1)])


def _row(values: Sequence[float], coding: Callable[[float], bytes]) -> bytes:
    """Return eight lanes of two bytes."""
    return b"".join(map(coding, values)).ljust(2 * LANES, b"\0")


def _snr(value: float) -> bytes:
    return codings.u16_little(value * 256)


def _u64(value: float) -> bytes:
    return codings.u64(value)[::-1]
