"""Signs: what can be seen of a link at either of its ends, present or absent.

A sign is a symptom and the end at which it shows, written `symptom@device/port`, so that findings
can carry it and the ledger can keep it. What was not read is no sign: unknown says nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from fabrichealth.model import Port

Signs = Mapping[str, bool]
"""By `symptom@device/port`: whether it is present."""


class Symptom(StrEnum):
    """What an end of a link can show."""

    RX_LOW = "rx_low"
    """It receives less light than it did."""
    RX_LANES_ALIKE = "rx_lanes_alike"
    """And all its lanes do, by a similar number of dB."""
    TX_LOW = "tx_low"
    """It sends less light than it did."""
    BIAS_ODD = "bias_odd"
    """A laser of it needs more bias at the same temperature, or gets none."""
    SNR_LOW = "snr_low"
    """The signal of its receiver is worse."""
    SNR_LANES_ALIKE = "snr_lanes_alike"
    """And so it is on all lanes, by a similar number of dB."""
    HOST_BAD = "host_bad"
    """The electrical side of its module is worse: between the module and its host."""
    HOT = "hot"
    """Its module is hot."""
    NEIGHBOURS_HOT = "neighbours_hot"
    """And so are the other modules of the device."""
    NOISY = "noisy"
    """Its receiver errs more than its signal explains."""
    RX_RESTLESS = "rx_restless"
    """The light that it receives goes up and down."""
    SNR_RESTLESS = "snr_restless"
    """Its signal goes up and down, its light does not."""
    BANK_DIM = "bank_dim"
    """Other ports of the laser bank that feeds it are dim too."""
    ERRORS = "errors"
    """Its receiver errs beyond a limit of the link."""
    BURSTS = "bursts"
    """And loses what independent errors at that rate would not: they come in bursts."""
    COMES_AND_GOES = "comes_and_goes"
    """Its errors stop for an hour and are back, again and again."""
    GROWING = "growing"
    """Its errors grow on a line, for days."""
    RETRAINS = "retrains"
    """Its receiver makes the link train again."""
    FALLS = "falls"
    """The link falls and comes back: of the link, not of an end."""
    NARROW = "narrow"
    """The link lost lanes or speed: of the link, not of an end."""
    DOWN = "down"
    """The link is down: of the link, not of an end."""
    TOUCHED = "touched"
    """Somebody had the part, plug or module of this end in hand shortly before."""
    UPGRADED = "upgraded"
    """The device of this end got other firmware or another configuration shortly before."""
    WORK_NEARBY = "work_nearby"
    """There was work around this end shortly before, on something else."""
    REBOOTED = "rebooted"
    """The device of this end booted at that time."""
    MAINTAINED = "maintained"
    """This end was in maintenance at that time."""


LINK_WIDE = frozenset({Symptom.FALLS, Symptom.NARROW, Symptom.DOWN})
"""Symptoms that a link shows as a whole; they name no end."""


def sign(symptom: Symptom, end: Port | None) -> str:
    """Return the name of a sign; what a link shows as a whole has no end."""
    return f"{symptom.value}@{'' if end is None or symptom in LINK_WIDE else end}"


def told(end: Port, seen: Mapping[Symptom, bool | None]) -> dict[str, bool]:
    """Return the signs of one end; what is None was not read and is left out."""
    return {sign(symptom, end): there for symptom, there in seen.items() if there is not None}


def read(signs: Signs) -> Iterator[tuple[Symptom, str, bool]]:
    """Yield symptom, end (`device/port`) and presence of each sign that this version knows."""
    for name, there in signs.items():
        symptom, _, end = name.partition("@")
        if symptom in _KNOWN:
            yield Symptom(symptom), end, there


def joined(every: Iterable[Signs]) -> dict[str, bool]:
    """Return the signs that several have seen of the same parts: what one saw is there."""
    found: dict[str, bool] = {}
    for signs in every:
        for name, there in signs.items():
            found[name] = found.get(name, False) or there
    return found


def renamed(signs: Signs, names: Mapping[Port, Port]) -> dict[str, bool]:
    """Return signs under the present names of their ends (new name by old)."""
    now = {str(old): str(new) for old, new in names.items()}
    found = {}
    for name, there in signs.items():
        symptom, mark, end = name.partition("@")
        found[f"{symptom}{mark}{now.get(end, end)}"] = there
    return found


_KNOWN = frozenset(one.value for one in Symptom)
