"""The built-in page, driven in a real Chromium."""
