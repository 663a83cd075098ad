"""Hudi's compaction strategies, which choose the file slices that a compaction merges."""
