"""Light as evidence: features of lanes, what is ill among them, and what that says of causes."""
