"""The best moments to compact, known only after the stream has ended."""
