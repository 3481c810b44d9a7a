"""Decoders: bytes to numbers in physical units; they know no metric and do no I/O."""
