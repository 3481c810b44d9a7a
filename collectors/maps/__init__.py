"""Maps: decoded quantities to the catalogue, shared by all sources."""
