"""Commands, one file each, named as the command; files with an underscore are shared."""
