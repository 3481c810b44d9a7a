"""Shared parts and bad lots: chances, covering, symptoms, history, and one incident."""
