"""What the sonic source is made of: names, sheets of hashes, and the parts of a visit."""
