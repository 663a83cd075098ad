"""The scaled-down initial load of a throw-away table."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.engines.contract import Batch

# The largest load, as a share of a target file. Planners treat small files differently: to Amoro, files up
# to an eighth of the target are fragments, which it merges and never converts.
SHARE_OF_TARGET = 0.25


def scaled_load(load: Batch, target_file_size_bytes: int, scratch: Path) -> Batch:
    """The first file of an initial load; of a larger file only its beginning, written below `scratch`.

    The load of a simulation has no files and is returned unchanged.
    """
    if not load.paths:
        return load
    most_bytes = SHARE_OF_TARGET * target_file_size_bytes
    path, size_bytes = load.paths[0], load.paths[0].stat().st_size
    if size_bytes > most_bytes:
        path = _beginning(path, most_bytes / size_bytes, scratch / "warm_up_load.parquet")
        size_bytes = path.stat().st_size
    rows = pq.read_metadata(path).num_rows
    spec = replace(load.spec, rows=rows, inserts=rows, writers=1)
    return replace(load, spec=spec, paths=(path,), size_bytes=size_bytes)


def _beginning(path: Path, share: float, target: Path) -> Path:
    """Copy the first rows of a Parquet file, at least one row, to `target`."""
    with pq.ParquetFile(path) as source:
        rows = max(1, int(share * source.metadata.num_rows))
        with pq.ParquetWriter(target, source.schema_arrow, compression="zstd") as writer:
            for batch in _first(source, rows):
                writer.write_batch(batch)
    return target


def _first(source: pq.ParquetFile, rows: int) -> Iterator[pa.RecordBatch]:
    for batch in source.iter_batches():
        yield batch.slice(0, rows)
        rows -= batch.num_rows
        if rows <= 0:
            return
