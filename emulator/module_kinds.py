"""Kinds of modules, as physics: lanes, lasers, receivers, heat.

Currents, light and losses are those that data sheets of such modules give as typical. How a kind
is laid out in memory is told in `modules`.
"""

from dataclasses import dataclass

from emulator.light import DARK_DBM, Laser, Receiver

DSP_HOST_SNR_DB = 24.0
"""Signal-to-noise ratio of a healthy electrical lane at a retimed module: 1e-12."""


@dataclass(frozen=True)
class Limits:
    """A quantity's own limits of a module, in its unit."""

    high_alarm: float
    low_alarm: float
    high_warning: float
    low_warning: float


TEMPERATURE = Limits(75.0, -5.0, 70.0, 0.0)
"""Degrees Celsius of the case."""
SUPPLY = Limits(3.63, 2.97, 3.46, 3.13)
"""Volts."""


@dataclass(frozen=True)
class ModuleKind:
    """What all modules of a kind have in common."""

    name: str
    kind: str
    """As `fabric_optics_info` names it: pluggable, lpo, cpo, els, aec, acc, aoc, dac."""
    medium: str
    """As the topology names it."""
    part: str
    lanes: int
    """Media lanes."""
    host_lanes: int
    gbps: float
    line_gbps: float
    """All lanes, coding included."""
    laser: Laser | None = None
    """None: no light, or light from elsewhere."""
    receiver: Receiver | None = None
    """Of the media side; also that of a retimed copper cable, whose `dbm` is a signal level."""
    loss_db: float = 0.0
    """From sender to receiver as a link is built."""
    retimed: bool = True
    """A DSP that knows signal-to-noise ratios, error rates and lock."""
    parallel: bool = False
    """A fibre for each lane; else all lanes share one."""
    cooled: bool = False
    """The laser's temperature is held by a cooler (TEC)."""
    external: bool = False
    """Light comes from an external laser source."""
    monitored: bool = True
    """It knows its temperature and voltage."""
    rise: float = 16.0
    """Degrees Celsius above the air at usual load."""
    bias: Limits | None = None
    """mA."""
    tx: Limits | None = None
    """dBm."""
    rx: Limits | None = None
    """dBm."""

    @property
    def limits(self) -> dict[str, Limits]:
        """The limits that its memory holds, by quantity: degrees Celsius, V, mA and dBm."""
        of_light = {"tx_bias": self.bias, "tx_power": self.tx, "rx_power": self.rx}
        held = {quantity: limits for quantity, limits in of_light.items() if limits is not None}
        return {"temperature": TEMPERATURE, "supply_voltage": SUPPLY, **held}

    @property
    def optical(self) -> bool:
        """Whether light is measured."""
        return self.laser is not None or self.external

    @property
    def sent_dbm(self) -> float:
        """Light that one lane sends as built."""
        if self.laser is not None:
            return self.laser.dbm
        return self.receiver.dbm + self.loss_db if self.external and self.receiver else DARK_DBM


def _dbm(high: float, low: float) -> Limits:
    """Return limits of light: a dB between warning and alarm."""
    return Limits(high, low, high - 1.0, low + 1.0)


_SIPH = Laser(threshold_ma=15.0, operating_ma=60.0, limit_ma=95.0, dbm=1.0)
_SIPH_BIAS = Limits(100.0, 10.0, 90.0, 20.0)
_PAM4_100G = Receiver(dbm=-1.0, snr_db=22.4, ceiling_db=30.0)
_VCSEL = Laser(threshold_ma=1.0, operating_ma=7.0, limit_ma=12.0, dbm=1.5)
_VCSEL_BIAS = Limits(13.0, 1.0, 11.5, 2.0)
_DML = Laser(threshold_ma=8.0, operating_ma=45.0, limit_ma=75.0, dbm=1.5)
_DML_BIAS = Limits(80.0, 5.0, 72.0, 12.0)
_WIRE = Receiver(dbm=0.0, snr_db=21.0, ceiling_db=30.0)

KINDS = {
    kind.name: kind
    for kind in (
        ModuleKind(
            "dr4", "pluggable", "optical", "EMU-400-DR4", 4, 8, 400.0, 425.0,
            _SIPH, _PAM4_100G, loss_db=2.0, parallel=True,
            bias=_SIPH_BIAS, tx=_dbm(5.5, -4.3), rx=_dbm(5.5, -6.9),
        ),
        ModuleKind(
            "2xfr4", "pluggable", "optical", "EMU-800-2FR4", 8, 8, 800.0, 850.0,
            Laser(18.0, 80.0, 125.0, 2.0), Receiver(-1.0, 22.0, 30.0), loss_db=3.0, rise=22.0,
            bias=Limits(130.0, 15.0, 120.0, 25.0), tx=_dbm(5.7, -4.2), rx=_dbm(5.7, -8.3),
        ),
        ModuleKind(
            "sr8", "pluggable", "optical", "EMU-400-SR8", 8, 8, 400.0, 425.0,
            _VCSEL, Receiver(0.0, 22.8, 30.0), loss_db=1.5, parallel=True, rise=14.0,
            bias=_VCSEL_BIAS, tx=_dbm(5.0, -7.5), rx=_dbm(5.0, -8.9),
        ),
        ModuleKind(
            "lr4", "pluggable", "optical", "EMU-400-LR4", 4, 8, 400.0, 425.0,
            Laser(16.0, 85.0, 130.0, 3.0), Receiver(-2.0, 22.0, 30.0), loss_db=5.0, cooled=True,
            rise=19.0, bias=Limits(135.0, 15.0, 125.0, 25.0), tx=_dbm(6.1, -3.7), rx=_dbm(6.1, -10),
        ),
        ModuleKind(
            "zr", "pluggable", "optical", "EMU-400-ZR", 1, 8, 400.0, 478.75,
            Laser(40.0, 180.0, 260.0, -9.0), Receiver(-10.0, 17.3, 20.5, slope=1.0), loss_db=1.0,
            cooled=True, rise=24.0, bias=Limits(280.0, 40.0, 250.0, 60.0),
            tx=_dbm(-5.0, -14.0), rx=_dbm(1.0, -16.0),
        ),
        ModuleKind(
            "lpo", "lpo", "lpo", "EMU-800-2DR4-LPO", 8, 8, 800.0, 850.0,
            _SIPH, Receiver(-1.0, 21.8, 29.0), loss_db=2.0, retimed=False, parallel=True, rise=10.0,
            bias=_SIPH_BIAS, tx=_dbm(5.5, -4.3), rx=_dbm(5.5, -6.9),
        ),
        ModuleKind(
            "cpo", "cpo", "cpo", "EMU-CPO-ENGINE", 16, 16, 1600.0, 1700.0,
            None, Receiver(-1.0, 22.0, 30.0), loss_db=2.0, parallel=True, external=True, rise=26.0,
            tx=_dbm(5.0, -5.0), rx=_dbm(5.5, -6.9),
        ),
        ModuleKind(
            "els", "els", "cpo", "EMU-ELSFP-8", 8, 0, 0.0, 0.0,
            Laser(30.0, 320.0, 480.0, 20.0), retimed=False, parallel=True, cooled=True, rise=15.0,
            bias=Limits(500.0, 40.0, 450.0, 60.0), tx=Limits(23.0, 15.0, 22.0, 17.0),
        ),
        ModuleKind(
            "aec", "aec", "aec", "EMU-800-AEC", 8, 8, 800.0, 850.0, None, _WIRE, rise=12.0,
        ),
        ModuleKind(
            "acc", "acc", "acc", "EMU-800-ACC", 8, 8, 800.0, 850.0, None, _WIRE,
            retimed=False, rise=6.0,
        ),
        ModuleKind(
            "aoc", "aoc", "aoc", "EMU-400-AOC", 8, 8, 400.0, 425.0,
            _VCSEL, Receiver(0.0, 22.8, 30.0), loss_db=1.5, parallel=True, rise=13.0,
            bias=_VCSEL_BIAS, tx=_dbm(5.0, -7.5), rx=_dbm(5.0, -8.9),
        ),
        ModuleKind(
            "dac", "dac", "dac", "EMU-400-CR8", 8, 8, 400.0, 425.0, None, _WIRE,
            retimed=False, monitored=False, rise=1.0,
        ),
        ModuleKind(
            "sfp", "pluggable", "optical", "EMU-10-LR", 1, 1, 10.0, 10.3125,
            Laser(10.0, 35.0, 70.0, -2.5), Receiver(-5.0, 24.0, 32.0), loss_db=2.5, retimed=False,
            rise=9.0, bias=Limits(75.0, 2.0, 70.0, 5.0), tx=_dbm(1.5, -9.0), rx=_dbm(1.5, -15.0),
        ),
        ModuleKind(
            "cwdm4", "pluggable", "optical", "EMU-100-CWDM4", 4, 4, 100.0, 103.125,
            _DML, Receiver(-2.0, 24.0, 32.0), loss_db=3.5, retimed=False, rise=12.0,
            bias=_DML_BIAS, tx=_dbm(4.5, -8.0), rx=_dbm(4.5, -12.0),
        ),
        ModuleKind(
            "cr4", "dac", "dac", "EMU-100-CR4", 4, 4, 100.0, 103.125, None, _WIRE,
            retimed=False, monitored=False, rise=1.0,
        ),
    )
}  # fmt: skip
