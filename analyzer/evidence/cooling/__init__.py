"""Coolant loops as evidence: heat, flow, resistance, pumps, leaks, by the laws they obey."""
