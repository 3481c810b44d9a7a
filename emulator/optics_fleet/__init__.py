"""A fleet of modules through days, written down as a recorder would: healthy, or with one fault.

`python -m emulator.optics_fleet FOLDER --kind dr4 --fault dirt --strength 2` makes a labelled
corpus (contract 6). What it holds is simulated.
"""
