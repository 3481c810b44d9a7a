"""Alerts: rules, runbooks and proofs generated together."""
