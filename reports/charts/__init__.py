"""Charts of a run group: a function each, listed in `registry`."""
