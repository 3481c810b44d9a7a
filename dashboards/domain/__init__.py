"""Rows of the board about domains, one file a question: how even, how full, how connected, .."""
