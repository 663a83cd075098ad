"""Apache Hudi: real tables by Spark, simulated ones, and existing ones."""
