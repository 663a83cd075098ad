"""Replays one stream of commits into real tables under different compaction strategies, and measures them."""
