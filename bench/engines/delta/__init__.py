"""Delta Lake tables, real and simulated."""
