"""Charts of one section: a function each, listed in `registry`."""
