"""How fast the pages that people on call accept are used up."""

from alerts.recording import Recording, Worked
from fabrichealth.catalogue.verdicts import PAGES, PAGES_ACCEPTED

WEEK = 168
"""Hours."""


def burn(hours: int) -> str:
    """Return the name of the series that tells the rate over so many hours."""
    return f"burn:{PAGES}:{hours}h"


def seen(hours: int) -> str:
    """Return the expression for the pages of so many hours, a whole number.

    Not by `increase`, which stretches what it saw over the window.
    """
    least = f"min_over_time({PAGES}[{hours}h])"
    return f"(sum(max by (domain) ({PAGES})) - sum(max by (domain) ({least})))"


def _proof(pages: int, gives: float, why: str) -> Worked:
    return Worked(
        {
            f'{PAGES}{{domain="pod-a"}}': f"0x10 {pages}x40",
            f'{PAGES_ACCEPTED}{{domain="pod-a"}}': "1.4x50",
            f'{PAGES_ACCEPTED}{{domain="pod-b"}}': "2.8x50",
        },
        at="30m",
        gives={"": gives},
        why=why,
    )


def _recording(hours: int, proof: Worked) -> Recording:
    accepted = f"clamp_min(sum(max by (domain) ({PAGES_ACCEPTED})), 1)"
    return Recording(
        name=burn(hours),
        expr=f"{seen(hours)} / ({accepted} * {hours} / {WEEK})",
        means=f"Pages of {hours} h over what a week's accepted pages leave for {hours} h: 1 uses "
        "up a week's in a week. A site of few links is left one page a week.",
        proofs=(proof,),
    )


SIX_HOURS = _recording(6, _proof(3, 20.0, "3 pages where a week may have 4.2"))
THREE_DAYS = _recording(72, _proof(9, 5.0, "9 pages in three days where a week may have 4.2"))
