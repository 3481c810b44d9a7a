"""A Redfish service on loopback: coolant distribution units, rack PDUs and power shelves.

Written from DMTF's schemas (DSP0268) and protocol (DSP0266). What the equipment measures is handed
in as plain numbers; nothing here knows any physics.
"""
