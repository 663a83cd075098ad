"""Apache Amoro's self-optimizing."""
