"""An executor without Spark: DuckDB reads and writes files in this process, PyIceberg commits them.

It commits what Spark's explicit rewrite of the same plan commits: rows, partitions, counts, bounds, sequence
numbers, deletes that go and stay, and totals. These differences are known, and harmless to readers:

- Files are up to a tenth smaller, and footers by some 2 KB: a column of a row group is one page, and footers
  lack Iceberg's schema in JSON. Columns are optional in Parquet, those that the table requires too, and
  decimals of more than 18 digits have 16 bytes.
- Row groups have fewer rows where those of the table's `write.parquet.row-group-size-bytes` would take more
  than a quarter of `compaction_memory`.
- A group above the target makes files of at most the target on disk. Spark's writer counts bytes before
  compression and ends files earlier, and delete files count in its tasks.
- Files are written beside the first file of their group, whatever the table's location provider.
- A plan that converts deletes and drops none is one snapshot; Java needs two.
- Delete files that are older than every data file all go; Iceberg 1.11.0 drops those of some manifests.
- Deletes committed between the plan and its commit always stay. RewriteFiles of Iceberg 1.11.0 drops those
  that are older than every data file but its own new ones.
- Manifests are never merged, but each commit of the stream by Spark merges them. Manifests that are written
  anew lack `referenced_data_file` of position deletes, which Java then takes from their bounds.
- Summaries do not name the application and the numbers of manifests, nor count the one partition of a table
  without partitions.
"""
