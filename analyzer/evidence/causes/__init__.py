"""Causes: what the parts of an ill link show, and which part that accuses."""
