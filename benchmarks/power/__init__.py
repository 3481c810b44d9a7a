"""Racks and their feeds, simulated with a physics of their own, to score what is said of them."""
