"""Collectors: every source of telemetry, from reply to poll."""
