"""Tables without Spark."""
