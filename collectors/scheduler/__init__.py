"""Schedulers: what they hold, place and keep waiting, the same whichever of them speaks."""
