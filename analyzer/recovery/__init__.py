"""Recovery: how long it takes from the first evidence to service as before, phase by phase."""
