"""ELSFP: an external laser source for co-packaged optics (OIF-ELSFP-CMIS-01.0).

Pages 00h, 01h and 02h as CMIS has them, lasers on 1Ah (limits, flags, states) and 1Bh (set points
and monitors); lane pages 10h to 13h do not exist.
"""

from emulator.light import milliwatts
from emulator.module_kinds import SUPPLY, TEMPERATURE, Limits
from emulator.modules import codings
from emulator.modules.builds import BUILDS
from emulator.modules.cmis import limits_of, power_class
from emulator.modules.flags import beyond, by_bound
from emulator.modules.memory import LOWER, Memory
from emulator.optics import LOW_POWER, ModuleState

RESOURCE = 1
"""Module function type (lower byte 57)."""
POWER_CONTROL = 1
"""Control mode: the light is held, not the bias."""
OFF, ON = 0, 2
"""Lane states."""
POWER_LOOP_FAULT = 1
CARRIER_STEPS = 228.8e3 / 5
"""Frequency of 1310 nm in steps of 5 GHz."""


def encode(memory: Memory, state: ModuleState) -> None:
    """Write every page of a laser source."""
    build, kind = BUILDS[state.kind], state.built
    running = state.power_state != LOW_POWER
    memory.set(LOWER, 0, build.identifier)
    memory.set(LOWER, 1, build.revision)
    memory.put(LOWER, 14, codings.celsius(state.temperature))
    memory.put(LOWER, 16, codings.volts(state.voltage))
    hot, supply = beyond(state.temperature, TEMPERATURE), beyond(state.voltage, SUPPLY)
    memory.set(LOWER, 9, hot.rising | supply.rising << 4)
    memory.set(LOWER, 57, RESOURCE)
    memory.set(LOWER, 85, build.media_type)
    memory.put(LOWER, 86, b"\xff" * 32)
    memory.set("00", 128, build.identifier)
    memory.put("00", 129, codings.text(state.vendor, 16))
    memory.put("00", 148, codings.text(state.part, 16))
    memory.put("00", 164, codings.text("A1", 2))
    memory.put("00", 166, codings.text(state.serial, 16))
    memory.put("00", 182, codings.text(f"{state.lot}0100"[:8], 8))
    memory.set("00", 200, power_class(build.watts) << 5)
    memory.put("00", 201, codings.u8(build.watts * 4))
    memory.set("00", 203, build.connector)
    memory.set("00", 212, build.technology)
    memory.sum_up("00", 128, 221, 222)
    memory.put("01", 138, codings.u16(build.wavelength_nm * 20))
    memory.set("01", 159, 0x03)
    memory.sum_up("01", 130, 254, 255)
    memory.put("02", 128, limits_of(TEMPERATURE, codings.celsius))
    memory.put("02", 136, limits_of(SUPPLY, codings.volts))
    memory.sum_up("02", 128, 254, 255)
    assert kind.bias is not None, "a laser source has limits of bias"  # noqa: S101 - of our table
    assert kind.tx is not None, "and of light"  # noqa: S101 - of our table
    faults = _lanes(memory, state, kind.bias, kind.tx, running=running)
    memory.set(LOWER, 3, state.power_state << 1 | (not faults and not memory.get(LOWER, 9)[0]))


def bias(ma: float) -> bytes:
    """Return a bias current in steps of 100 uA."""
    return codings.u16(ma * 10)


def power(dbm: float) -> bytes:
    """Return optical power in steps of 10 uW."""
    return codings.u16(float(milliwatts(dbm)) * 100)


def _lanes(
    memory: Memory, state: ModuleState, currents: Limits, light: Limits, *, running: bool
) -> bool:
    """Write limits, flags, set points and monitors of the lasers; return whether one is ill."""
    laser, lanes = state.built.laser, state.lanes
    memory.put("1a", 128, power(light.high_warning) + power(light.low_warning))
    memory.put("1a", 132, bias(currents.high_warning) + bias(currents.low_warning))
    memory.set("1a", 140, lanes << 1 | POWER_CONTROL)
    memory.put("1a", 141, limits_of(currents, bias))
    memory.put("1a", 149, limits_of(light, power))
    biases = state.bias_ma if running else [0.0] * lanes
    lights = state.tx_dbm if running else [-40.0] * lanes
    by_bias = by_bound(biases, currents) if running else (0, 0, 0, 0)
    by_light = by_bound(lights, light) if running else (0, 0, 0, 0)
    faults = by_bias[0] | by_bias[1] | by_light[0] | by_light[1]
    warnings = by_bias[2] | by_bias[3] | by_light[2] | by_light[3]
    memory.set("1a", 165, (faults > 0) << 2 | (warnings > 0) << 3)
    memory.set("1a", 166, faults)
    memory.set("1a", 174, warnings)
    memory.put("1a", 186, bytes((*by_bias, *by_light)))
    codes = [
        (POWER_LOOP_FAULT if faults >> lane & 1 else 0)
        | (POWER_LOOP_FAULT << 4 if warnings >> lane & 1 else 0)
        for lane in range(lanes)
    ]
    memory.put("1a", 212, bytes(codes))
    memory.set("1a", 220, (1 << lanes) - 1 if running else 0)
    states = sum((ON if running else OFF) << 2 * lane for lane in range(lanes))
    memory.put("1a", 221, states.to_bytes(2, "little"))
    memory.put("1a", 224, bytes(range(1, lanes + 1)))
    memory.put("1a", 232, codings.u16(CARRIER_STEPS) * lanes)
    operating = laser.operating_ma if laser else 0.0
    memory.put("1b", 128, bias(operating) * lanes)
    memory.put("1b", 144, power(state.built.sent_dbm) * lanes)
    memory.put("1b", 184, b"".join(map(bias, biases)))
    memory.put("1b", 200, b"".join(power(one) if one > -40 else b"\0\0" for one in lights))
    memory.put("1b", 232, b"".join(codings.u8(1800 / 15 if ma else 0) for ma in biases))
    memory.put("1b", 240, codings.u16((sum(biases) + 400) * 5))
    return bool(faults | warnings)
