"""Analyzer: findings from windows, incidents from findings."""
