"""The model of a simulated Delta table."""
