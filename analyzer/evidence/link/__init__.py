"""Evidence of bit errors on one receiving end: exposure, estimates, limits, states, forecasts."""
