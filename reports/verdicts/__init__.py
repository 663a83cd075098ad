"""Whether figures of runs differ: comparisons, corrections for their number, trends and the Pareto front."""
