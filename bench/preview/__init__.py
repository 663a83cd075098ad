"""What `compactbench plan` computes: a strategy's effect on an existing table."""
