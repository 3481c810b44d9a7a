"""Recording rules, one file each: the file is the registration."""
