"""Detectors, one file each; the file name is the section in the site file."""
