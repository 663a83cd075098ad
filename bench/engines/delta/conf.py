"""The session's configuration for Delta tables, as results show it."""


def session_conf() -> dict[str, str]:
    """What a session needs for Delta tables, and what suits tables on one machine."""
    return {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # By default Delta spreads the state of a table over 50 tasks, however small the table is.
        "spark.databricks.delta.snapshotPartitions": "1",
        # VACUUM lists the table in so many tasks: 10,000 by default, which take 20 seconds for a few files.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
        # Retention is scenario time, which is shorter than the week that Delta insists on.
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    }
