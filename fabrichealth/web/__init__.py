"""The HTTP side: what is shown, and who may see it."""
