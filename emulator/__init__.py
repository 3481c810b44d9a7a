"""Emulator: a supernode on loopback, written from the specifications; never imports collectors."""
