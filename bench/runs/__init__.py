"""Runs: planned as a suite, carried out in worker processes, checked."""
