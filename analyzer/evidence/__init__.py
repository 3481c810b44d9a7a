"""Evidence: what numbers say, before anybody holds an opinion; pure functions over columns."""
