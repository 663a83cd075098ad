"""Seeded generators of table commits, and the change log they are written to."""
