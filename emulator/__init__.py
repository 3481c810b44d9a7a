"""Emulator: a supernode on loopback; physics, faults, device protocols. Never imports collectors."""
