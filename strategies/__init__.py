"""Compaction strategies: pure rules over a table state. They use no Spark, no clock and no files."""
