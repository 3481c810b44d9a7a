"""Remediation: what may be drained by itself is told to those who drain; off unless asked for."""
