"""Stores: where readings and verdicts are kept, and the journal of events and incidents."""
