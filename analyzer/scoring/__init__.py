"""Scoring: verdicts against a labelled corpus, to the letter of contract 6.

`truth` reads what was wrong, `told` what the analyzer said of it; `places` knows which part holds
which, `matching` gives each truth its incident, `tally` counts over corpora, `bounds` says how
sure a count is, `calibration` whether a probability means what it says, `tables` prints it.
"""

from analyzer.scoring.matching import Matched, Met, match
from analyzer.scoring.tally import Tally
from analyzer.scoring.told import Told
from analyzer.scoring.truth import Truth, truths

__all__ = ["Matched", "Met", "Tally", "Told", "Truth", "match", "truths"]
