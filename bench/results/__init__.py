"""Result folders, the figures computed from them, and what may be pooled."""
