"""Kinds of stores, a file each; the file's name is the `kind` in the site file."""
