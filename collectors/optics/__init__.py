"""Optical modules by their memory: read gently, decoded many at a time, told to the catalogue."""
