"""What the parent process checks before a suite begins."""
