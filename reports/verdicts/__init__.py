"""Whether figures of runs differ: comparisons, corrections for their number and the Pareto front."""
