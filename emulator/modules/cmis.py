"""CMIS: what a module is, what it can and where its limits are (OIF-CMIS-05.2, 8.2 to 8.5).

Lower memory and pages 00h, 01h, 02h; lanes, diagnostics and coherent pages have modules of their
own.
"""

from emulator.module_kinds import SUPPLY, TEMPERATURE, Limits
from emulator.modules import cmis_lanes, codings, coherent, copper, diagnostics, vdm
from emulator.modules.builds import BUILDS, C_BAND, Build
from emulator.modules.flags import beyond
from emulator.modules.memory import LOWER, Memory, name_of
from emulator.modules.observed import observe
from emulator.modules.vdm import Observed
from emulator.optics import LOW_POWER, ModuleState

LANES = 8
"""Lanes of a bank."""
END = 0xFF
"""Host interface code behind the last application."""
NOT_RUNNING_CELSIUS = -0.4
"""What the monitor of a module in low power says: it does not run."""
LASER = Limits(80.0, -5.0, 75.0, 0.0)
COOLER = Limits(0.9, -0.9, 0.8, -0.8)
POWER_CLASSES = (1.5, 3.5, 7.0, 8.0, 10.0, 12.0, 14.0)
"""Most watts of classes 1 to 7; class 8 says it in byte 201 alone."""


def encode(
    memory: Memory,
    state: ModuleState,
    selector: int = diagnostics.SNR,
    observed: Observed | None = None,
    seconds: float = 1.0,
) -> None:
    """Write every page that a module of this kind has.

    Args:
        memory: Where to.
        state: The module now.
        selector: What page 14h shows.
        observed: What VDM of bank 0 shows; by default what is measured now.
        seconds: For how long page 14h has counted.
    """
    build = BUILDS[state.kind]
    _describe(memory, state, build)
    if copper.is_passive(build):
        copper.describe_cmis(memory, build)
        memory.sum_up("00", 128, 221, 222)
        memory.set(LOWER, 3, state.power_state << 1 | 1)
        return
    _advertise(memory, state, build)
    _limit(memory, state, build)
    flagged = _monitor(memory, state, build)
    groups = 0
    for bank in range(banks(state)):
        first, last = LANES * bank, LANES * (bank + 1)
        raised = cmis_lanes.encode(memory, state, build, bank)
        if build.diagnostics:
            diagnostics.encode(
                memory, state, selector, media=build.media_diagnostics, bank=bank, seconds=seconds
            )
        if build.observables:
            seen = observe(state, build, first, last) if bank or observed is None else observed
            groups = vdm.encode(memory, seen, bank, groups, build.coherent)
            raised |= 0x08 if any(memory.get(name_of(0x2C, bank), 128, 128)) else 0
        memory.set(LOWER, 4 + bank, raised)
        flagged |= raised > 0
    if build.coherent:
        coherent.encode(memory, state, seconds)
    memory.set(LOWER, 3, state.power_state << 1 | (not flagged))


def banks(state: ModuleState) -> int:
    """Return how many banks of eight lanes there are."""
    return -(-max(state.lanes, state.built.host_lanes) // LANES)


def _describe(memory: Memory, state: ModuleState, build: Build) -> None:
    """Write identity and applications: lower memory and page 00h."""
    memory.set(LOWER, 0, build.identifier)
    memory.set(LOWER, 1, build.revision)
    memory.set(LOWER, 85, build.media_type)
    memory.put(LOWER, 86, bytes((END,)) * 32)
    for number, one in enumerate(build.applications):
        lanes = one.host_lanes << 4 | one.media_lanes
        memory.put(LOWER, 86 + 4 * number, bytes((one.host, one.media, lanes, one.host_starts)))
    memory.set("00", 128, build.identifier)
    memory.put("00", 129, codings.text(state.vendor, 16))
    memory.put("00", 148, codings.text(state.part, 16))
    memory.put("00", 164, codings.text("A1", 2))
    memory.put("00", 166, codings.text(state.serial, 16))
    memory.put("00", 182, codings.text(f"{state.lot}0100"[:8], 8))
    memory.set("00", 200, power_class(build.watts) << 5)
    memory.put("00", 201, codings.u8(build.watts * 4))
    memory.set("00", 203, build.connector)
    if state.lanes < LANES and state.built.optical:
        memory.set("00", 210, 0xFF << state.lanes & 0xFF)
    memory.set("00", 212, build.technology)
    copper.describe_cmis(memory, build)
    memory.sum_up("00", 128, 221, 222)


def power_class(watts: float) -> int:
    """Return the power class, counted from 0."""
    return next((at for at, most in enumerate(POWER_CLASSES) if watts <= most), 7)


def _advertise(memory: Memory, state: ModuleState, build: Build) -> None:
    """Write what the module can: page 01h."""
    kind = state.built
    memory.put("01", 130, bytes((1, 0)))
    memory.put("01", 138, codings.u16(build.wavelength_nm * 20))
    several = {1: 0, 2: 1, 4: 2}[banks(state)]
    offered = bool(build.observables) << 6 | build.diagnostics << 5 | build.coherent << 4
    memory.set("01", 142, offered | several)
    memory.set("01", 144, 0x44)  # data paths come up and go down within 100 ms each
    memory.set("01", 145, kind.cooled << 7 | kind.cooled)
    memory.put("01", 146, codings.s8(TEMPERATURE.high_warning))
    memory.put("01", 147, codings.s8(TEMPERATURE.low_warning))
    memory.set("01", 151, 0x10 if kind.optical else 0)
    tunable = 0xC0 if build.technology == C_BAND else 0
    memory.set("01", 155, tunable | (0x02 if kind.optical else 0))
    lock = kind.retimed << 2
    memory.set("01", 157, kind.optical | 0x02 | lock | 0x08)
    memory.set("01", 158, 0x02 | lock)
    laser = kind.laser is not None
    memory.set("01", 159, 0x03 | kind.cooled << 2 | (laser and kind.cooled) << 3)
    multiplier = {1: 0, 2: 1, 4: 2}[build.multiplier]
    monitors = laser | kind.optical << 1 | kind.optical << 2
    memory.set("01", 160, monitors | (multiplier << 3 if laser else 0))
    memory.put("01", 161, bytes((kind.retimed, kind.retimed)))
    for number, one in enumerate(build.applications):
        memory.set("01", 176 + number, one.media_starts)
    memory.sum_up("01", 130, 254, 255)


def _limit(memory: Memory, state: ModuleState, build: Build) -> None:
    """Write the limits: page 02h."""
    kind = state.built
    rows: list[tuple[int, Limits, vdm.Coding]] = [
        (128, TEMPERATURE, codings.celsius),
        (136, SUPPLY, codings.volts),
    ]
    if kind.cooled:
        rows += [(144, COOLER, _cooler), (152, LASER, codings.celsius)]
    for at, limits, coding in rows:
        memory.put("02", at, limits_of(limits, coding))
    for at, light in ((176, kind.tx), (192, kind.rx)):
        if light is not None:
            memory.put("02", at, limits_of(light, codings.light))
    if kind.bias is not None:
        memory.put(
            "02",
            184,
            limits_of(kind.bias, lambda ma: codings.milliamperes(ma, build.multiplier)),
        )
    memory.sum_up("02", 128, 254, 255)


def limits_of(limits: Limits, coding: vdm.Coding) -> bytes:
    """Return eight bytes: high alarm, low alarm, high warning, low warning."""
    return b"".join(
        map(
            coding,
            (limits.high_alarm, limits.low_alarm, limits.high_warning, limits.low_warning),
        )
    )


def _monitor(memory: Memory, state: ModuleState, build: Build) -> bool:
    """Write state, monitors and flags of the whole module; return whether a flag is up."""
    kind = state.built
    running = state.power_state != LOW_POWER
    degrees = state.temperature if running else NOT_RUNNING_CELSIUS
    memory.put(LOWER, 14, codings.celsius(degrees))
    memory.put(LOWER, 16, codings.volts(state.voltage))
    if kind.cooled and running:
        memory.put(LOWER, 18, _cooler(state.tec_ratio))
        memory.put(LOWER, 20, codings.celsius(state.laser_celsius[0]))
    memory.set(LOWER, 26, 0 if running else 0x10)
    major, _, minor = state.firmware.partition(".")
    memory.put(LOWER, 39, bytes((_number(major), _number(minor))))
    memory.set(LOWER, 41, state.fault_cause)
    memory.set(LOWER, 8, 0x02 if state.firmware_fault else 0)
    hot = beyond(state.temperature, TEMPERATURE).rising if running else 0
    memory.set(LOWER, 9, hot | beyond(state.voltage, SUPPLY).rising << 4)
    if kind.cooled and running:
        cooler = beyond(state.tec_ratio, COOLER).rising
        memory.set(LOWER, 10, cooler | beyond(state.laser_celsius[0], LASER).rising << 4)
    return any(memory.get(LOWER, 8, 4))


def _cooler(current: float) -> bytes:
    """Return a cooler's current, 1 its greatest, in steps of 1/32767."""
    return codings.s16(current * 32767)


def _number(word: str) -> int:
    return int(word) & 0xFF if word.isdecimal() else 0
