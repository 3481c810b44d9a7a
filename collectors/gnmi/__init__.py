"""What the gnmi source is made of: leaves by OpenConfig's models, and SONiC's own tables."""
