"""Redfish resources as columns: their names, layouts, walks, reports and pushed events."""
