"""Tests of what is said of a domain as one machine."""
