"""An executor without Spark: DuckDB reads and writes files in this process, PyIceberg commits them."""
