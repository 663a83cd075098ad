"""Runs: planned as a suite, executed in worker processes, and checked."""
