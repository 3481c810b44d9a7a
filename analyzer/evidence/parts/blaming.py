"""Blaming: what each symptom says of each sort of part, as attributes that groups are made of.

A trunk or tray takes light both ways or takes the link down; a line card, an ASIC or a whole
device spoils what its own host sides send, or gives errors one way that no light explains; a
lot shows in its own modules. What a rack, a part number or a firmware explains better is nobody's
bad trunk: those compete, and are not accused. Nor is a module that feeds several ports: whoever
joins incidents accuses it, on fewer links than a comparison needs.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from analyzer.evidence.durations import Bools
from analyzer.evidence.parts.belonging import MADE, Belonging, Names
from analyzer.evidence.parts.cages import Cages
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
        "module": _modules(ill, told, infos),
        "rack": _attribute(own, "rack", ill.any.astype(np.float64), told, infos),
    }
    return {name: _with(one, own, gone) for name, one in found.items()} if gone else found


def _with(one: Attribute, own: Belonging, gone: Sequence[Gone]) -> Attribute:
    """Return an attribute with modules that are gone behind its units."""
    of_module = one.name in MADE
    code = np.full(len(gone), -1, np.int64)
    if of_module:
        code = own.names[one.name].codes(getattr(module.made, one.name) for module in gone)
    cured = np.array([float(of_module and module.cured) for module in gone])
    return Attribute(
        one.name,
        one.names,
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


def _modules(ill: Illness, known: Bools, infos: Changes) -> Attribute:
    """Return the modules that carry several ports, of devices with several ill links.

    Light that is lost on the way is its trunk's fault; all else on all its ports its own. A module
    in which all is well explains nothing, and is not looked for.
    """
    own = ill.own
    errs = ill.any & ~ill.dim
    errs |= errs[own.peer]
    device = own.written["device"]
    several = np.bincount(device[errs], minlength=len(own.names["device"].names)) > 1
    cages, names = Cages(ill.known.view.topology, infos), Names()
    code = np.full(len(own), -1, np.int64)
    for unit in np.flatnonzero(several[device]).tolist():
        if (cage := cages.of(own.ports[unit])) is not None:
            code[unit] = names.code(cage.place.id)
    return Attribute("module", names.names, code, errs.astype(np.float64), known)


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
