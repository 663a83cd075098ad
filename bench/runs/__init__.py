"""Runs: a suite plans and starts them, a worker process makes each; both use `jobs` and `settings`."""
