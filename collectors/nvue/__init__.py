"""What is NVUE's own: which resources are asked when, and which interfaces are ports."""
