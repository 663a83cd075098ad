"""Scenario files: read, checked, and turned into what a run works with."""
