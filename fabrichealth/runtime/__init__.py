"""Runtime: the only place with a wall clock, randomness, processes and signals."""
