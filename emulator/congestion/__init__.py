"""Congestion of the Ethernet fabric: flows, shared buffers, pauses, marks, and what goes wrong.

A fluid: within a step rates have settled, and counters grow by what they come to. Buffers of
megabytes fill within a millisecond at these rates, so a step of a second sees nothing else.
"""
