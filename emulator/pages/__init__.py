"""Pages that the emulated devices serve, as their exporters would."""
