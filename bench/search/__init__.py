"""Searching for a policy: many settings of a scenario's strategies, simulated."""
