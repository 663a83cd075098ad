"""What every Spark engine shares."""
