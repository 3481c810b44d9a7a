"""Blaming: what each symptom says of each sort of part, as attributes that groups are made of.

A trunk or tray takes light both ways or takes the link down; a line card, an ASIC or a whole
device spoils what its own host sides send, or gives errors one way that no light explains; a
lot shows in its own modules. What a rack, a part number or a firmware explains better is nobody's
bad trunk: those compete, and are not accused.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.evidence.durations import Bools
from analyzer.evidence.parts.belonging import MADE, Belonging
from analyzer.evidence.parts.covering import Attribute, Codes, Units
from analyzer.evidence.parts.history import Gone
from analyzer.evidence.parts.illness import Illness
from fabrichealth.model import Changes, Floats

HALF = 0.5
"""Of an error that may be the fault of either module."""


def attributes(ill: Illness, infos: Changes, gone: Sequence[Gone] = ()) -> dict[str, Attribute]:
    """Return every attribute that units can share, with who is ill and known in its sense.

    Modules that are `gone` are units behind the others: they count for what a module is.
    """
    own = ill.own
    first = np.arange(len(own)) % 2 == 0
    peer = own.peer
    way, module, electrical = _way(ill), _module(ill), _electrical(ill)
    told = ill.heard | ill.heard[peer]
    found: dict[str, Attribute] = {
        # a link is one unit of its trunk: only its first end counts
        "bundle": _attribute(own, "bundle", way, told & first, infos),
        "card": _attribute(own, "card", electrical, told, infos),
        "device": _attribute(own, "device", np.where(ill.down, 0.0, electrical), told, infos),
        "lasers": _attribute(own, "lasers", ill.faint.astype(np.float64), ill.heard, infos),
        "lot": _attribute(own, "lot", module, told, infos),
        "part": _attribute(own, "part", module, told, infos),
        "firmware": _attribute(own, "firmware", module, told, infos),
        "rack": _attribute(own, "rack", ill.any.astype(np.float64), told, infos),
    }
    return {name: _with(one, own, gone) for name, one in found.items()} if gone else found


def _with(one: Attribute, own: Belonging, gone: Sequence[Gone]) -> Attribute:
    """Return an attribute with modules that are gone behind its units."""
    of_module = one.name in MADE
    names = [getattr(module.made, one.name) if of_module else "" for module in gone]
    code = own.names[one.name].codes(names)
    cured = np.array([float(of_module and module.cured) for module in gone])
    return Attribute(
        one.name,
        own.names[one.name].names,
        np.concatenate([one.code, code]),
        np.concatenate([one.ill, cured]),
        np.concatenate([one.known, code >= 0]),
    )


def units(own: Belonging, gone: Sequence[Gone]) -> Units:
    """Return how units are compared and explained; each module that is gone is one by itself."""
    size, links = len(own), len(own.links)
    place = np.array([module.unit for module in gone], np.intp)
    return Units(
        np.concatenate([own.stratum, own.stratum[place]]),
        np.concatenate([own.link, links + np.arange(len(gone))]),
        np.concatenate([own.peer, size + np.arange(len(gone))]).astype(np.intp),
    )


def _attribute(own: Belonging, name: str, ill: Floats, known: Bools, infos: Changes) -> Attribute:
    code: Codes = own.code(name, infos)
    names: Sequence[str] = own.names[name].names
    return Attribute(name, names, code, ill, known)


def _way(ill: Illness) -> Floats:
    """Return which links suffer from their way: the fibre, the trunk, the cable ([u])."""
    peer, loose = ill.own.peer, ill.loose
    both = loose & loose[peer] & ~ill.lit
    ways = np.asarray(ill.dim | ill.dim[peer] | both | ill.down | ill.down[peer], np.bool_)
    return ways.astype(np.float64)


def _electrical(ill: Illness) -> Floats:
    """Return which ends may suffer from what they are plugged into ([u]).

    Errors without any loss accuse the electronics of either end, if only one direction errs or
    nothing is known of light that could tell. A dead card's ports say nothing any more; where both
    ends still speak of a link that is down, its way is to blame.
    """
    peer, loose = ill.own.peer, ill.loose
    both = loose & loose[peer] & ~ill.lit
    one_way = (loose | loose[peer]) & ~both & ~ill.noisy
    found = np.asarray(ill.host | one_way | (ill.down & ill.mute), np.bool_)
    return found.astype(np.float64)


def _module(ill: Illness) -> Floats:
    """Return which ends may have an ill module ([u]); half where it may be the far one's."""
    peer = ill.own.peer
    sure = ill.noisy | ill.host | ill.faint
    loose = (ill.loose | ill.loose[peer]) & ~(sure | sure[peer])
    return np.where(sure, 1.0, HALF * loose)


ACCUSED: Mapping[str, str] = {"bundle": "bundle", "card": "card", "device": "device"}
"""Type of the culprit of a shared component, by attribute."""
