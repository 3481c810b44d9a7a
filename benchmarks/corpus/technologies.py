"""Technologies: what a link is built of, what is read of it, and where its limits lie.

Limits are of the ratio of wrong bits before FEC, warning and error: for InfiniBand the public
field table of the fabric manager's isolation plugin (7 nm, NDR), for Ethernet and its kin a
tenth of and the rate at which PAM4 optics leave their budget (2.4e-4 is the cliff of IEEE
802.3's RS(544,514)); copper a decade stricter.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """A Reed-Solomon code over symbols of ten bits."""

    name: str
    symbols: int
    corrects: int


KP4 = Code("rs544", 544, 15)
LOW_LATENCY = Code("ll272", 272, 7)


@dataclass(frozen=True, slots=True)
class Technology:
    """One sort of link; rates in Gb/s, all lanes."""

    name: str
    technology: str
    medium: str
    speed: float
    line_rate: float
    lanes: int
    code: Code
    warning: float
    error: float
    """Ratio of wrong bits before FEC."""
    generation: str = ""
    silicon: str = ""
    retries: bool = False
    """Whether the link repeats what FEC could not mend."""
    lit: bool = True
    """Whether there are lasers."""
    diagnoses: bool = True
    """Whether modules tell of signal and errors on both sides (CMIS VDM)."""
    near: str = "switch"
    far: str = "host"
    """Roles of the ends."""
    counts: str = "ethernet"
    """Whose counters it has: ethernet, infiniband or scaleup."""


TECHNOLOGIES = {
    one.name: one
    for one in (
        Technology("roce", "roce", "optical", 400, 425, 4, KP4, 1e-5, 1e-4),
        Technology(
            "ndr", "ib", "optical", 400, 425, 4, KP4, 5e-6, 1e-5, "ndr", "7nm", retries=True,
            counts="infiniband",
        ),
        Technology(
            "ub", "ub", "optical", 400, 425, 4, KP4, 1e-5, 1e-4, retries=True, far="accelerator",
            counts="scaleup",
        ),
        Technology(
            "lpo", "roce", "lpo", 800, 850, 8, KP4, 1e-5, 1e-4, diagnoses=False,
        ),
        Technology(
            "aec", "roce", "aec", 400, 425, 4, KP4, 1e-6, 1e-5, lit=False,
        ),
        Technology(
            "dac", "ib", "dac", 400, 425, 4, KP4, 5e-7, 1e-6, "ndr", "7nm", retries=True,
            lit=False, diagnoses=False, counts="infiniband",
        ),
        Technology(
            "nvlink", "nvlink", "backplane", 400, 425, 2, LOW_LATENCY, 4.5e-6, 4.5e-5, "nvlink5",
            retries=True, lit=False, diagnoses=False, far="accelerator", counts="scaleup",
        ),
    )
}  # fmt: skip
