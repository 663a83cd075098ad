"""Replays one stream of commits into real tables under different compaction policies, and measures them."""
