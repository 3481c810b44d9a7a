"""Domain: the accelerators of a scale-up domain as one machine: who holds them, where work fits."""
