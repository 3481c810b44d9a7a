"""Recorded history: VictoriaMetrics JSON lines or OpenMetrics text, in and out (contract 3)."""

from fabrichealth.history.reader import read
from fabrichealth.history.report import HistoryReport
from fabrichealth.history.writer import write

__all__ = ["HistoryReport", "read", "write"]
