"""The model of a simulated Hudi table."""
