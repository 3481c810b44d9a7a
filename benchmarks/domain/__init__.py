"""A domain of 1,024 accelerators, simulated: hidden idleness, stragglers, quiet days."""
