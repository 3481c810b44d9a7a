"""Dashboards: Grafana boards generated from the catalogue and the kinds."""
