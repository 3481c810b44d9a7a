"""Benchmarks: speed and detection quality, as ratios against named peers."""
