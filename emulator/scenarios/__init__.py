"""Scenarios, one file each: what happens in a demo, minute by minute of its own time."""
