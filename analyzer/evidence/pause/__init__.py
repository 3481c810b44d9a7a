"""Pauses: who stops whom, for how much of the time, and where it begins."""
