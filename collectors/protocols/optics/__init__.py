"""The memory of optical modules and cables: one table of fields a standard, and two decoders."""
