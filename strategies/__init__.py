"""Compaction strategies: pure rules over a table state, without Spark, clock or files."""
