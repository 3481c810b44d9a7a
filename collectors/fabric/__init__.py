"""A whole InfiniBand fabric as seen from one place: names of its nodes, counters of its ports."""
