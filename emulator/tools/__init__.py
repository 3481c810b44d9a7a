"""What the tools of others would print on an emulated supernode."""
