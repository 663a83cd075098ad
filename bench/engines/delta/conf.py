"""The session's configuration for Delta tables, as results show it."""

CODEC_CONF = "spark.sql.parquet.compression.codec"  # Delta's tables have no property of their own for it
DEFAULT_CODEC = "snappy"


def session_conf() -> dict[str, str]:
    """What a session needs for Delta tables, and what suits tables on one machine."""
    return {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # By default Delta spreads the state of a table over 50 tasks, however small the table is.
        "spark.databricks.delta.snapshotPartitions": "1",
        # Retention is scenario time, which is shorter than the week that Delta insists on.
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    }
