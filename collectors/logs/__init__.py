"""Logs over many polls: what was counted, what was told, and by which names."""
