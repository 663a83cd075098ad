"""Which delete files apply to which data files."""
