"""Evidence of bit errors: codes, tails, limits, estimates, states and forecasts."""
