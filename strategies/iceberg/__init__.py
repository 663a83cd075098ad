"""Planners of Apache Iceberg's own maintenance, and the rules they follow."""
