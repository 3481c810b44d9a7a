"""Power: what feeds, phases, supplies and racks carry, and what that means for breakers."""
