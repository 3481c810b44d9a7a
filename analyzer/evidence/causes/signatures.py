"""Signatures: how likely each symptom is under each cause, at the ill end and at the other.

One table for light, signal, errors and events. Sources: CorrOpt (SIGCOMM 2017, table 2) for how
common causes are on links that lose data and for what their light shows; the field's table of
optical signatures (bias, light sent and received, signal, host side, temperature, course in
time) and of patterns over lanes (docs/methods.md, Cause and side). Figures are rounded to what
such sources can carry: certain 0.95, usual 0.7, half 0.5, at times 0.3, seldom 0.1; what does not
belong to a cause comes with it by chance in 0.03.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from analyzer.evidence.causes.signs import LINK_WIDE, Symptom
from fabrichealth.kinds import Cause

CHANCE = 0.03
"""Probability of a symptom that does not belong to a cause."""

COPPER = frozenset({"dac", "acc", "aec", "backplane"})
BOARDS = frozenset({"pcie", "cxl"})
"""Technologies without a module of their own: a slot and traces."""


class Where(StrEnum):
    """Which part a signature accuses: one of an end, as receiver, sender or both, or neither's."""

    RECEIVER = "rx"
    SENDER = "tx"
    END = "end"
    PATH = "path"

    @property
    def of_end(self) -> bool:
        """Whether it is a part of one end."""
        return self is not Where.PATH

    @property
    def direction(self) -> str | None:
        """The direction that suffers, seen from the ill end."""
        return self.value if self in {Where.RECEIVER, Where.SENDER} else None


class On(StrEnum):
    """Links that can have a cause."""

    LIGHT = "light"
    COPPER = "copper"
    BOARD = "board"


Chances = Mapping[Symptom, float]
_LIGHT, _ANY = frozenset({On.LIGHT}), frozenset(On)


@dataclass(frozen=True)
class Signature:
    """One row: how common it is, and the probability of each symptom.

    `here` is the end with the ill part, `there` the other. Of what lies between the ends both
    are alike, and only `here` is filled.
    """

    cause: Cause
    where: Where
    prior: float
    here: Chances
    there: Chances = field(default_factory=dict)
    on: frozenset[On] = _LIGHT

    def chance(self, symptom: Symptom, *, here: bool) -> float:
        """Return the probability that an end shows a symptom."""
        mine = here or symptom in LINK_WIDE or not self.where.of_end
        chances = self.here if mine else self.there
        return chances.get(symptom, COMMON.get(symptom, CHANCE))


_S = Symptom
COMMON: Chances = {
    _S.TOUCHED: 0.03, _S.UPGRADED: 0.03, _S.WORK_NEARBY: 0.05, _S.GROWING: 0.1, _S.FALLS: 0.1,
    _S.NARROW: 0.1, _S.DOWN: 0.15, _S.RETRAINS: 0.1, _S.BURSTS: 0.1, _S.RX_LANES_ALIKE: 0.5,
    _S.SNR_LANES_ALIKE: 0.5, _S.NEIGHBOURS_HOT: 0.05, _S.REBOOTED: 0.01, _S.MAINTAINED: 0.02,
    _S.COMES_AND_GOES: 0.05, _S.BIAS_ODD: 0.005, _S.TX_LOW: 0.01, _S.HOT: 0.005,
    _S.HOST_BAD: 0.01, _S.RX_RESTLESS: 0.01, _S.SNR_RESTLESS: 0.01,
}  # fmt: skip
"""What any ill link may show."""

SIGNATURES: Mapping[str, Signature] = {
    "dirty or loose connector": Signature(
        Cause.CONTAMINATED_CONNECTOR, Where.RECEIVER, 0.36,
        {_S.RX_LOW: 0.95, _S.RX_LANES_ALIKE: 0.7, _S.SNR_LOW: 0.7, _S.SNR_LANES_ALIKE: 0.7,
         _S.ERRORS: 0.5, _S.NOISY: 0.1, _S.RX_RESTLESS: 0.1, _S.TOUCHED: 0.3, _S.GROWING: 0.1,
         _S.FALLS: 0.1},
        {_S.RX_LOW: 0.04, _S.TX_LOW: 0.01, _S.ERRORS: 0.04, _S.SNR_LOW: 0.04},
    ),
    "bent or crushed fibre": Signature(
        Cause.DAMAGED_FIBER, Where.PATH, 0.28,
        {_S.RX_LOW: 0.9, _S.TX_LOW: 0.01, _S.RX_LANES_ALIKE: 0.8, _S.SNR_LOW: 0.7,
         _S.SNR_LANES_ALIKE: 0.8, _S.ERRORS: 0.5, _S.RX_RESTLESS: 0.05, _S.WORK_NEARBY: 0.4,
         _S.TOUCHED: 0.1},
    ),
    "reflections": Signature(
        Cause.CONTAMINATED_CONNECTOR, Where.RECEIVER, 0.05,
        {_S.SNR_LOW: 0.7, _S.NOISY: 0.5, _S.SNR_RESTLESS: 0.95, _S.ERRORS: 0.5, _S.BURSTS: 0.8,
         _S.COMES_AND_GOES: 0.4,
         _S.SNR_LANES_ALIKE: 0.7, _S.TOUCHED: 0.2},
        {_S.ERRORS: 0.04},
    ),
    "laser ageing": Signature(
        Cause.DECAYING_TRANSMITTER, Where.SENDER, 0.05,
        {_S.TX_LOW: 0.5, _S.BIAS_ODD: 0.95, _S.HOT: 0.05, _S.ERRORS: 0.02},
        {_S.RX_LOW: 0.5, _S.RX_LANES_ALIKE: 0.05, _S.SNR_LOW: 0.4, _S.SNR_LANES_ALIKE: 0.05,
         _S.ERRORS: 0.4, _S.GROWING: 0.5},
    ),
    "laser failed": Signature(
        Cause.DECAYING_TRANSMITTER, Where.SENDER, 0.02,
        {_S.TX_LOW: 0.98, _S.BIAS_ODD: 0.6, _S.ERRORS: 0.02, _S.DOWN: 0.3},
        {_S.RX_LOW: 0.95, _S.RX_LANES_ALIKE: 0.05, _S.SNR_LOW: 0.8, _S.SNR_LANES_ALIKE: 0.05,
         _S.ERRORS: 0.6},
    ),
    "laser bank": Signature(
        Cause.SHARED_COMPONENT, Where.SENDER, 0.01,
        {_S.TX_LOW: 0.95, _S.BIAS_ODD: 0.05, _S.BANK_DIM: 0.98, _S.RX_LOW: 0.3, _S.ERRORS: 0.1},
        {_S.RX_LOW: 0.9, _S.SNR_LOW: 0.5, _S.ERRORS: 0.5},
    ),
    "receiver ageing": Signature(
        Cause.DEGRADED_RECEIVER, Where.RECEIVER, 0.08,
        {_S.SNR_LOW: 0.95, _S.SNR_LANES_ALIKE: 0.15, _S.ERRORS: 0.5, _S.NOISY: 0.05,
         _S.GROWING: 0.6},
        {_S.ERRORS: 0.02},
    ),
    "module hot": Signature(
        Cause.MODULE_OVERHEATING, Where.END, 0.05,
        {_S.HOT: 0.97, _S.TX_LOW: 0.15, _S.BIAS_ODD: 0.3, _S.SNR_LOW: 0.5, _S.HOST_BAD: 0.3,
         _S.ERRORS: 0.4, _S.SNR_LANES_ALIKE: 0.9},
        {_S.SNR_LOW: 0.5, _S.ERRORS: 0.4, _S.RX_LOW: 0.1, _S.SNR_LANES_ALIKE: 0.9},
        frozenset({On.LIGHT, On.COPPER}),
    ),
    "no air for the modules": Signature(
        Cause.COOLING, Where.END, 0.02,
        {_S.HOT: 0.97, _S.NEIGHBOURS_HOT: 0.95, _S.TX_LOW: 0.15, _S.BIAS_ODD: 0.3, _S.SNR_LOW: 0.4,
         _S.HOST_BAD: 0.3, _S.ERRORS: 0.4, _S.SNR_LANES_ALIKE: 0.9},
        {_S.SNR_LOW: 0.4, _S.ERRORS: 0.4, _S.RX_LOW: 0.1, _S.SNR_LANES_ALIKE: 0.9},
        frozenset({On.LIGHT, On.COPPER}),
    ),
    "host electrical": Signature(
        Cause.HOST_ELECTRICAL, Where.SENDER, 0.08,
        {_S.HOST_BAD: 0.97, _S.ERRORS: 0.1, _S.NARROW: 0.2},
        {_S.ERRORS: 0.7},
        frozenset({On.LIGHT, On.BOARD}),
    ),
    "host lanes before a copper cable": Signature(  # there is less between the hosts than optics
        Cause.HOST_ELECTRICAL, Where.SENDER, 0.15,
        {_S.HOST_BAD: 0.97, _S.ERRORS: 0.1, _S.NARROW: 0.2},
        {_S.ERRORS: 0.7},
        frozenset({On.COPPER}),
    ),
    "module's DSP or firmware": Signature(
        Cause.LOOSE_OR_BAD_MODULE, Where.RECEIVER, 0.08,
        {_S.HOST_BAD: 0.9, _S.SNR_LOW: 0.95, _S.SNR_LANES_ALIKE: 0.9, _S.NOISY: 0.3, _S.ERRORS: 0.6,
         _S.UPGRADED: 0.3, _S.FALLS: 0.2},
        {_S.ERRORS: 0.5},
    ),
    "loose module": Signature(
        Cause.LOOSE_OR_BAD_MODULE, Where.RECEIVER, 0.08,
        {_S.RX_LOW: 0.5, _S.RX_RESTLESS: 0.6, _S.COMES_AND_GOES: 0.8, _S.SNR_LOW: 0.4,
         _S.HOST_BAD: 0.2, _S.RETRAINS: 0.5, _S.ERRORS: 0.4, _S.BURSTS: 0.4,
         _S.TOUCHED: 0.3, _S.FALLS: 0.3},
        {_S.RETRAINS: 0.2},
    ),
    "bad or loose module, its light well": Signature(
        Cause.LOOSE_OR_BAD_MODULE, Where.END, 0.15,
        {_S.ERRORS: 0.6, _S.SNR_LOW: 0.05, _S.RETRAINS: 0.3, _S.FALLS: 0.5, _S.NARROW: 0.5,
         _S.DOWN: 0.5, _S.BURSTS: 0.3, _S.TOUCHED: 0.2},
        {_S.ERRORS: 0.15, _S.RETRAINS: 0.2, _S.BURSTS: 0.2},
    ),
    "bad or loose plug": Signature(  # or, of an active cable, what is in it
        Cause.LOOSE_OR_BAD_MODULE, Where.END, 0.1,
        {_S.ERRORS: 0.6, _S.SNR_LOW: 0.3, _S.HOST_BAD: 0.3, _S.RETRAINS: 0.4, _S.FALLS: 0.5,
         _S.NARROW: 0.5, _S.DOWN: 0.5, _S.COMES_AND_GOES: 0.4, _S.TOUCHED: 0.3},
        {_S.ERRORS: 0.4, _S.RETRAINS: 0.3},
        frozenset({On.COPPER}),
    ),
    "copper cable": Signature(
        Cause.COPPER_CABLE, Where.PATH, 0.5,
        {_S.SNR_LOW: 0.7, _S.ERRORS: 0.9, _S.HOST_BAD: 0.05, _S.SNR_RESTLESS: 0.2, _S.NOISY: 0.1,
         _S.RETRAINS: 0.4, _S.COMES_AND_GOES: 0.2, _S.FALLS: 0.3, _S.NARROW: 0.3, _S.DOWN: 0.3,
         _S.TOUCHED: 0.15, _S.WORK_NEARBY: 0.2},
        on=frozenset({On.COPPER}),
    ),
    "slot or traces": Signature(
        Cause.HOST_ELECTRICAL, Where.PATH, 0.4,
        {_S.ERRORS: 0.7, _S.RETRAINS: 0.4, _S.FALLS: 0.2, _S.NARROW: 0.5, _S.DOWN: 0.3},
        on=frozenset({On.BOARD}),
    ),
    "far end restarted": Signature(
        Cause.PEER_REBOOTED, Where.END, 0.004,
        {_S.REBOOTED: 0.95, _S.DOWN: 0.7, _S.FALLS: 0.5, _S.ERRORS: 0.1, _S.RETRAINS: 0.3},
        on=_ANY,
    ),
    "worked on": Signature(
        Cause.MAINTENANCE, Where.PATH, 0.004,
        {_S.MAINTAINED: 0.9, _S.DOWN: 0.5, _S.FALLS: 0.5, _S.ERRORS: 0.1, _S.TOUCHED: 0.3,
         _S.RX_LOW: 0.1},
        on=_ANY,
    ),
    "something else": Signature(
        Cause.UNKNOWN, Where.PATH, 0.04,
        dict.fromkeys(Symptom, 0.2)
        | {_S.ERRORS: 0.5, _S.FALLS: 0.6, _S.NARROW: 0.6, _S.DOWN: 0.6, _S.RX_LANES_ALIKE: 0.5,
           _S.SNR_LANES_ALIKE: 0.5, _S.NEIGHBOURS_HOT: 0.05, _S.REBOOTED: 0.01,
           _S.MAINTAINED: 0.02, _S.TOUCHED: 0.03, _S.UPGRADED: 0.03},
        on=_ANY,
    ),
}  # fmt: skip
"""By the name of what is wrong, as it is told to a person."""


def kind_of_link(medium: str, technology: str, *, copper: bool = False) -> On:
    """Return what a link is made of; `copper` where a module says so itself."""
    if technology in BOARDS:
        return On.BOARD
    return On.COPPER if copper or medium in COPPER else On.LIGHT
