"""What is Arista's own: which commands are asked when, and which interfaces are ports."""
