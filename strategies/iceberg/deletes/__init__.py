"""Which delete files apply to which data files, for whole tables without visiting pairs.

The rule for one delete file and one data file:

- A deletion vector applies to the data file it references.
- A position delete file applies if the data file has no deletion vector, and the delete's data sequence
  number is greater than or equal to the data file's: a commit may delete rows that it adds. It must also
  reference the data file or, if it references none, have the same partition spec and partition.
- An equality delete file applies if its data sequence number is strictly greater: it never deletes rows of
  its own commit. Its partition spec and partition must be the same, or its spec unpartitioned: such a delete
  is global. Readers also skip it if the bounds of the key column exclude a common key.

Source: Iceberg table spec, "Scan Planning"; `DeleteFileIndex` at 1.11.0 for the bounds.
"""
