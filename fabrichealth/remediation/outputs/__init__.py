"""Those who drain, one file each; the file's name is the `kind:` under `remediate:`."""
