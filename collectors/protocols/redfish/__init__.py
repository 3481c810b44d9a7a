"""Redfish (DMTF DSP0266): resources, collections, metric reports and pushed events, decoded."""
