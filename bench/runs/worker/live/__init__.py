"""Runs with a real clock on real tables: the roles are processes on one table, at the same time."""
