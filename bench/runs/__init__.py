"""Runs: planned and made by a suite, each in a worker process; both sides know `jobs` and `settings`."""
