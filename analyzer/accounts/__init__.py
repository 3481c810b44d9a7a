"""Accounts: reads a store, incidents and events for the accounting of a domain's hours."""
