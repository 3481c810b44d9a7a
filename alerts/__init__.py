"""Alerts: rules, runbooks and proofs, generated from one description each."""
