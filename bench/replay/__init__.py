"""The replay of a stream: commit, query, decide, compact, record."""
