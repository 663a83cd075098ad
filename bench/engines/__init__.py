"""Engines: each executes commits, plans and probes for one format in one mode. They never decide."""
