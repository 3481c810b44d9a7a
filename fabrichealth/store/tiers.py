"""Tiers: readings as they came, and the same as one value a minute and one every ten."""

RAW, MINUTES, TENS = 0, 1, 2

TIERS = (RAW, MINUTES, TENS)
"""Finest first, which is also the order in which space is taken back."""

STEPS = {MINUTES: 60.0, TENS: 600.0}
"""Seconds between the values of a tier."""
