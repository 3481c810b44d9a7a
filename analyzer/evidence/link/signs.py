"""Signs of a link's counters: which end's receiver errs, how, and what the whole link does.

A receiver's counter accuses the path into it: the far transmitter, the cable, the receiver.
Corruption is nearly always one-directional (about 8 % of corrupting links both ways, CorrOpt,
SIGCOMM 2017), so an end that is proven well speaks as loud as one that is ill.
"""

from collections.abc import Collection

from analyzer.evidence.causes.signs import Symptom, sign, told
from analyzer.evidence.causes.weighing import Diagnosis, diagnose_link
from analyzer.evidence.link.fec import codeword_error_ratio
from analyzer.evidence.link.gathering import Gathered
from analyzer.evidence.link.histogram import code_of
from analyzer.evidence.link.measures import CODEWORDS, RAW, RETRAINS, Reading
from analyzer.evidence.optics.recalled import recalled_signs
from fabrichealth.model import Finding, Port, View

UNEXPLAINED = 100.0
"""So many times what independent errors lose is lost to bursts (docs/methods.md, Codewords)."""

UNDERTOLD = 1.5
"""Wrong bits over what counters of symbols and codewords tell of them, at the most in noise."""


def error_signs(known: Gathered, place: int, ill: Collection[int]) -> dict[str, bool]:
    """Return the signs of the errors at both ends of a port's link; `ill` are ports that err."""
    by_measure = {one.measure: one for one in known.readings}
    peer = int(known.ends.peer[place])
    found: dict[str, bool] = {}
    for one in (place, peer) if peer >= 0 else (place,):
        found |= told(known.ends.ports[one], _of_receiver(known, by_measure[RAW], one, one in ill))
        retrains = by_measure[RETRAINS]
        if retrains.known[one]:
            found[sign(Symptom.RETRAINS, known.ends.ports[one])] = bool(retrains.ill[one])
    return found


def _of_receiver(
    known: Gathered, raw: Reading, place: int, errs: bool
) -> dict[Symptom, bool | None]:
    well = bool(raw.decided[place]) and not known.down[place]
    if not errs:
        return {Symptom.ERRORS: False if well else None}
    lost = next(one for one in known.readings if one.measure is CODEWORDS)
    return {Symptom.ERRORS: True, Symptom.BURSTS: _in_bursts(known, raw, lost, place)}


def _in_bursts(known: Gathered, raw: Reading, lost: Reading, place: int) -> bool | None:
    """Return whether more codewords are lost than the ratio of wrong bits explains."""
    if not (raw.known[place] and lost.known[place]):
        return None
    code = code_of(float(known.ends.word_bits[place]))
    noise = float(codeword_error_ratio(UNDERTOLD * float(raw.rate[place]), code))
    return bool(lost.ill[place]) and float(lost.lower[place]) > UNEXPLAINED * noise


def diagnosed(
    view: View, port: Port, signs: dict[str, bool], since: float
) -> tuple[Diagnosis, dict[str, bool]]:
    """Return the diagnosis of a port's link by these signs and by its light before and since."""
    link = view.topology.link_of.get(port)
    ends = tuple(link.ends) if link is not None else (port,)
    every = recalled_signs(view, ends, since) | signs
    return diagnose_link(every, link, port), every


def began(view: View, port: Port, since: float) -> float:
    """Return when the trouble of a port began: a window that moves on forgets it."""
    known = [one.detail.get(BEGAN, one.since) for one in view.before if _same(view, one, port)]
    return min([since, *known])


BEGAN = "began"
"""Under which a finding keeps that moment in its `detail`."""


def _same(view: View, one: Finding, port: Port) -> bool:
    if one.about == port:
        return True
    link = view.topology.link_of.get(port)
    return isinstance(one.about, Port) and link is not None and one.about in link.ends
