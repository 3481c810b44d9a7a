"""Builds: how each kind of module describes itself in its memory.

Identifiers and interface codes are SFF-8024's (tables 4-1, 4-5, 4-6, 4-7, 4-10).
"""

from dataclasses import dataclass, field

QSFP_DD, OSFP, SFP, QSFP28, CPO_ENGINE, ELSFP = 0x18, 0x19, 0x03, 0x11, 0x80, 0x22
MULTIMODE, SINGLE_MODE, PASSIVE_COPPER, ACTIVE_CABLE = 1, 2, 3, 4
"""Media types (CMIS lower byte 85)."""
VCSEL_850, EML_1310, DFB_1310, C_BAND, OTHER = 0x00, 0x06, 0x04, 0x10, 0x08
COPPER_PASSIVE, COPPER_LIMITING, COPPER_LINEAR = 0x0A, 0x0C, 0x0F
"""Media technologies (CMIS 00h:212)."""
MPO12, MPO16, LC, CS, NO_SEPARABLE, COPPER_PIGTAIL = 0x0C, 0x27, 0x07, 0x25, 0x23, 0x21
"""Connectors (00h:203, SFF-8636 00h:130, SFF-8472 A0h:2)."""


@dataclass(frozen=True)
class Application:
    """One way to use the lanes (CMIS lower bytes 86 to 117)."""

    host: int
    media: int
    host_lanes: int
    media_lanes: int
    host_starts: int
    """Bitmap of host lanes at which it may begin."""
    media_starts: int


@dataclass(frozen=True)
class Build:
    """What a kind says of itself."""

    identifier: int
    media_type: int
    technology: int
    connector: int
    watts: float
    applications: tuple[Application, ...] = ()
    wavelength_nm: float = 0.0
    multiplier: int = 1
    """Of the step of bias currents: 1, 2 or 4."""
    revision: int = 0x52
    """CMIS revision."""
    observables: tuple[int, ...] = ()
    """Types of VDM that it measures."""
    diagnostics: bool = False
    """Pages 13h and 14h."""
    media_diagnostics: bool = True
    coherent: bool = False
    length_m: float = 0.0
    """Of a cable."""
    attenuation_db: tuple[int, ...] = field(default=())
    """Of copper at 5, 7, 12.9, 25.8 and 53.1 GHz."""


PAM4 = (5, 6, *range(9, 19), 23, 24, 25, 26)
"""Types of VDM that most retimed optics measure: SNR, BER, errored frames."""
LASER = (1, 4)
COHERENT = (3, *range(128, 148))

BUILDS = {
    "dr4": Build(
        QSFP_DD, SINGLE_MODE, EML_1310, MPO12, 10.0, wavelength_nm=1311.0, multiplier=2,
        applications=(
            Application(0x11, 0x1C, 8, 4, 0x01, 0x01), Application(0x0D, 0x14, 2, 1, 0x55, 0x0F),
        ),
        observables=(*LASER, *PAM4), diagnostics=True,
    ),
    "2xfr4": Build(
        OSFP, SINGLE_MODE, EML_1310, LC, 16.0, wavelength_nm=1301.0, multiplier=2,
        applications=(Application(0x50, 0x1D, 4, 4, 0x11, 0x11),),
        observables=(*LASER, 7, 8, *PAM4, *range(27, 35)), diagnostics=True,
    ),
    "sr8": Build(
        QSFP_DD, MULTIMODE, VCSEL_850, MPO16, 9.0, wavelength_nm=850.0,
        applications=(
            Application(0x11, 0x10, 8, 8, 0x01, 0x01), Application(0x0A, 0x07, 1, 1, 0xFF, 0xFF),
        ),
        observables=(1, *PAM4), diagnostics=True,
    ),
    "lr4": Build(
        QSFP_DD, SINGLE_MODE, EML_1310, LC, 12.0, wavelength_nm=1301.0, multiplier=4, revision=0x50,
        applications=(Application(0x11, 0x1E, 8, 4, 0x01, 0x01),),
        observables=(*LASER, 2, *PAM4), diagnostics=True,
    ),
    "zr": Build(
        QSFP_DD, SINGLE_MODE, C_BAND, LC, 20.0, wavelength_nm=1547.7, multiplier=4,
        applications=(Application(0x11, 0x3E, 8, 1, 0x01, 0x01),),
        observables=(*LASER, 2, 6, *range(9, 19), 23, 24, *COHERENT), coherent=True,
    ),
    "lpo": Build(
        OSFP, SINGLE_MODE, EML_1310, MPO12, 9.0, wavelength_nm=1311.0, multiplier=4, revision=0x50,
        applications=(Application(0x50, 0x1C, 4, 4, 0x11, 0x11),),
    ),
    "cpo": Build(
        CPO_ENGINE, SINGLE_MODE, OTHER, NO_SEPARABLE, 40.0, wavelength_nm=1311.0,
        applications=(Application(0x50, 0x1C, 4, 4, 0x11, 0x11),),
        observables=(*PAM4, 84), diagnostics=True,
    ),
    "els": Build(ELSFP, SINGLE_MODE, OTHER, NO_SEPARABLE, 12.0, wavelength_nm=1311.0),
    "aec": Build(
        OSFP, ACTIVE_CABLE, COPPER_LIMITING, NO_SEPARABLE, 10.0, revision=0x50, length_m=2.5,
        applications=(Application(0x52, 0x03, 8, 8, 0x01, 0x01),), diagnostics=True,
    ),
    "acc": Build(
        OSFP, ACTIVE_CABLE, COPPER_LINEAR, NO_SEPARABLE, 1.5, revision=0x50, length_m=3.0,
        applications=(Application(0x49, 0x03, 8, 8, 0x01, 0x01),), attenuation_db=(6, 8, 12, 19, 0),
    ),
    "aoc": Build(
        QSFP_DD, ACTIVE_CABLE, VCSEL_850, NO_SEPARABLE, 8.0, wavelength_nm=850.0, length_m=10.0,
        applications=(Application(0x11, 0x03, 8, 8, 0x01, 0x01),), observables=PAM4,
        diagnostics=True,
    ),
    "dac": Build(
        QSFP_DD, PASSIVE_COPPER, COPPER_PASSIVE, NO_SEPARABLE, 0.25, revision=0x40, length_m=1.5,
        applications=(Application(0x1E, 0x01, 8, 8, 0x01, 0x01),),
        attenuation_db=(4, 5, 8, 13, 0),
    ),
    "sfp": Build(SFP, SINGLE_MODE, DFB_1310, LC, 1.0, wavelength_nm=1310.0),
    "cwdm4": Build(QSFP28, SINGLE_MODE, DFB_1310, LC, 3.5, wavelength_nm=1301.0),
    "cr4": Build(
        QSFP28, PASSIVE_COPPER, COPPER_PASSIVE, NO_SEPARABLE, 1.5, length_m=2.0,
        attenuation_db=(4, 6, 9, 15),
    ),
}  # fmt: skip
"""By the name of the kind."""
