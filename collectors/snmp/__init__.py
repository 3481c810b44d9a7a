"""What the snmp source knows of a device: its ports and counters, sensors, neighbours."""
