"""Transports: the only I/O with devices."""
