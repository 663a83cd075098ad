"""A simulated Hudi table."""
