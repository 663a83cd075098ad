"""Runs with a real clock on real tables: the roles work on one table at the same time."""
