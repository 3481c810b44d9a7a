"""What the modbus source does with a device's registers: asked for, and made into readings."""
