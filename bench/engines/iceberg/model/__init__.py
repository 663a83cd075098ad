"""How a simulated Iceberg table behaves."""
