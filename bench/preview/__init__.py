"""The computations of `compactbench plan`: the effect of a strategy on an existing table."""
