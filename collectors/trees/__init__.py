"""Replies that are trees of JSON (eAPI, NVUE): laid out once by the rules of a map, read often."""
