"""The parts of the host source: its ports, their counters, the kernel's answers, captures."""
