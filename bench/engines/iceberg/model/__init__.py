"""The model of a simulated Iceberg table."""
