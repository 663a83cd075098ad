"""The roles of a replay: who commits, who queries, who compacts and who maintains the table."""
