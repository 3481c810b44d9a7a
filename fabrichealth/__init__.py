"""Fabric and link health telemetry for AI supernodes: the core, which knows no device."""

__version__ = "0.1.0"
