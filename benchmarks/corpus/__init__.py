"""A public labelled corpus: simulated links, their faults and their traps, in contract 6's form.

`python -m benchmarks.corpus FOLDER --seed N [--only WORD] [--list]` writes one folder a case.
The physics stands in three rooms: `codes` (what noise does to a code), `light` (what a module
sends and hears) and `cable` (one link, both ways). `faults` spoils one cable, `groups` many at
once, `traps` shows what must raise nothing. Everything is written from the specifications and
from published formulas, and shares no line with the emulator or the analyzer, so that neither
is judged by its own opinion.

The results are simulated. They say how the analyzer does on these formulas, not in a hall.
"""
