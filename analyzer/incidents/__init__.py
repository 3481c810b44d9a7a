"""Incidents: one cause, one incident; culprit, victims, suppression."""
