"""What `deploy/` ships, held against the real tools that will read it."""
