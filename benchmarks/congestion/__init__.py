"""Congestion: a fluid fabric with pauses and marks, its faults, and how well they are named.

Shared with neither the analyzer nor the emulator.
"""
